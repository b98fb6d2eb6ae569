#pragma once

#include <cstdint>
#include <vector>

#include "analysis/classify/classify.h"
#include "store/trace_store.h"

namespace steplens::analysis {

// A forward or backward pass on the host of a rank.
struct FsdpPass {
  bool is_forward = true;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};

// The passes of a model that FSDP divides, by begin. A forward pass is an outermost range of FSDP's
// forward; a backward pass is a row of outermost `autograd::engine...` ranges up to an operator
// that records an event. `kinds` is what ClassifyTracks returned. O(n log n).
std::vector<FsdpPass> FindFsdpPasses(const store::TraceStore& store,
                                     const std::vector<TrackKind>& kinds);

}  // namespace steplens::analysis
