#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "store/trace_store.h"

namespace steplens::analysis {

// Leaves in the store what belongs to the given steps, and returns those of them it has. What ran
// on the host belongs to the step in whose host range it began, device work to the step of its
// launch (ComputeStepRanges), samples to each step that was under way. Results over the whole
// run go, for they can be computed again from what is left; so do sheets whose rows have no time.
// A store that has none of the steps is left as it is. Step numbers may come in any order.
std::vector<int64_t> KeepSteps(store::TraceStore& store, std::span<const int64_t> steps);

}  // namespace steplens::analysis
