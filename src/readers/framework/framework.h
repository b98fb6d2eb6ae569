#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/status.h"
#include "readers/framework/raw_clock.h"
#include "readers/read_options.h"
#include "store/trace_store.h"

// Raw host data of a capture: the files of FRAMEWORK/ (docs/formats/framework.md) to rows.
//
//   torch.op_range            slices (cpu_op) in file order, host_ops, steps, fwdbwd flows
//   torch.op_mark             slices (dequeue, then enqueue; correlation = correlation id),
//                             async_task_queue flows
//   torch.python_tracer_func  slices (python_function; correlation = "Python id"), by thread
//   torch.gc_record           slices (GC) of process "Python GC"
//   torch.memory_usage        memory_samples (PTA, WORKSPACE), allocations with the operator's name
//   steplens.mark             markers and slices of process "MSTX"
//   steplens.counter          counters
//   steplens.thread           labels of threads
//   steplens.device           kernels, comm_ops, slices of the device and of CANN, HostToDevice
//   flows
//
// and, where there is no torch.op_range, what MindSpore writes itself (mindspore_files.h).
//
// What no table fits is kept as sheets for the analyses that want it; `Slice` is a row of slices
// (the first two only if options.wanted.tensors):
//   framework_tensors      Slice, Input Tensors, Tensor Lists, Scalars   (op_range tags 5-7)
//   framework_params       Key, Name, Module Parameters, Optimizer Parameters
//   framework_collectives  Slice, Group, Size(B), Count, Data Type, Ranks, Kind, Peer (tags 32-38)
//
// Nothing about a device that was not recorded is derived here; analysis/cpu_device does that.

namespace steplens::readers {

enum class FrameworkFile : uint8_t {
  kOpRange,
  kOpMark,
  kMemoryUsage,
  kPythonCalls,
  kPythonNames,
  kParamTensors,
  kGarbage,
  kOldPythonCalls,  // torch.python_func_call, 2024
  kOldModuleCalls,  // torch.python_module_call, 2024
  kMarks,           // ours
  kCounters,        // ours
  kThreads,         // ours
  kDevice,          // ours
  kMindSporeRanges,
  kMindSporeShapes,
  kMindSporeCpuOps,
  kMindSporeMemoryText,
  kMindSporeMemory,
  kUnknown,
};

// Whether a file is one of MindSpore's own, read only where there is no torch.op_range.
inline bool IsMindSporeFile(FrameworkFile kind) {
  return kind >= FrameworkFile::kMindSporeRanges && kind <= FrameworkFile::kMindSporeMemory;
}

// By the beginning of the base name, as the reference does it.
FrameworkFile ClassifyFrameworkFile(std::string_view base_name);

struct FrameworkInput {
  FrameworkFile kind = FrameworkFile::kUnknown;
  std::string name;                    // for messages
  std::unique_ptr<ByteSource> source;  // plain bytes
  uint64_t size_bytes = 0;             // 0: not known; used to reserve space
};

// Reads the files of one capture together (appends). Damaged records are counted in out.issues and
// the tables are sound whatever is returned. One input a kind; further ones are ignored.
Status ReadFrameworkInputs(std::vector<FrameworkInput> inputs, const RawClock& clock,
                           const ReadOptions& options, store::TraceStore& out);

// The same for a capture on disk: `folder` holds FRAMEWORK/ and profiler_info*.json, which says
// how the clock is read.
Status ReadFramework(const std::string& folder, const ReadOptions& options, store::TraceStore& out);

}  // namespace steplens::readers
