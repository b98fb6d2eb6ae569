#pragma once

#include "base/status.h"
#include "readers/framework/context.h"
#include "readers/framework/record_reader.h"

namespace steplens::readers {

// torch.op_range of any era -> slices, host_ops, steps, sheets. `size_bytes` of the file (0: not
// known) tell how much room they need.
Status ReadOpRanges(RecordReader& reader, FrameworkContext& ctx, uint64_t size_bytes);

// Arrows from forward to backward operators: of those with a sequence number the latest of each
// side, if the backward one ran on another thread or after the forward one.
void AppendForwardBackwardFlows(store::TraceStore& out);

}  // namespace steplens::readers
