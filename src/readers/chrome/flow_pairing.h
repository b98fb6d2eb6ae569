#pragma once

#include <cstdint>
#include <vector>

#include "store/trace_store.h"

namespace steplens::readers {

// One end of an arrow, as the trace has it. The key stands for category and id.
struct FlowEnd {
  uint64_t key_high;
  uint64_t key_low;
  int64_t ts_ns;
  store::TrackId track;
  StringId kind;
};

// Joins every end with the start of the same key that precedes it most closely in time (the first
// start if none does), appends the arrows to out.flows in the order of `ends`, and counts ends and
// starts left over.
void PairFlows(std::vector<FlowEnd> starts, const std::vector<FlowEnd>& ends,
               store::TraceStore& out);

}  // namespace steplens::readers
