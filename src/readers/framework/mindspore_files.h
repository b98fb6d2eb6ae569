#pragma once

#include <cstdint>
#include <optional>

#include "base/status.h"
#include "readers/framework/context.h"
#include "readers/framework/record_reader.h"

// What MindSpore's own recorder leaves in FRAMEWORK/. Read only where there are no files of
// torch.*: our recorder writes both, and those hold more.

namespace steplens::readers {

// mindspore.op_range: slices of process "MindSpore" named as its trace names them, instants, steps,
// flows "async_mindspore" from the one range that starts a flow id to the one that ends it, and a
// sheet mindspore_custom_info (Slice, Custom Info).
Status ReadMindSporeRanges(RecordReader& reader, FrameworkContext& ctx);

// mindspore.record_shapes: operator_details (name and input shapes).
Status ReadMindSporeShapes(RecordReader& reader, FrameworkContext& ctx);

// mindspore.memory_usage: allocations, each a block's allocation and the next free of its address,
// and memory_samples, unless there are some already. `only_device` replaces the recorded number.
Status ReadMindSporeMemory(RecordReader& reader, FrameworkContext& ctx,
                           std::optional<int64_t> only_device);

// cpu_op_execute_timestamp_<rank>.txt: slices of process "CPU OP", category = type. Lines of the
// form  name;type;start_ns,dur_ms,tid start_ns,dur_ms,tid ...
Status ReadMindSporeCpuOps(RecordReader& reader, FrameworkContext& ctx);

// cpu_ms_memory_record_<rank>.txt, a csv file: memory_samples.
Status ReadMindSporeMemoryText(RecordReader& reader, FrameworkContext& ctx);

}  // namespace steplens::readers
