#pragma once

#include "base/status.h"
#include "readers/framework/context.h"
#include "readers/framework/record_reader.h"

namespace steplens::readers {

// torch.gc_record -> slices of process "Python GC".
Status ReadGarbage(RecordReader& reader, FrameworkContext& ctx);

// steplens.mark -> slices of process "MSTX", markers; and steps, from ranges "ProfilerStep#<n>", if
// no operator marked any.
Status ReadMarks(RecordReader& reader, FrameworkContext& ctx);

// steplens.counter -> counters. "CPU Usage/3" is series 3 of process "CPU Usage".
Status ReadCounters(RecordReader& reader, FrameworkContext& ctx);

// steplens.thread -> labels of the threads that have a track already.
Status ReadThreadNames(RecordReader& reader, FrameworkContext& ctx);

}  // namespace steplens::readers
