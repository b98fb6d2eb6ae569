#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/verify/check.h"

namespace steplens::analysis::verify {

// A row of kernels and the slice of the timeline that shows the same work; kNoSlice if there is
// none.
struct KernelMatch {
  size_t kernel;
  store::SliceId slice;
};

// Compute kernels are looked for on the hardware streams by name and start, to the ns; collectives
// on the group tracks by name, their start may differ by 1 ns. One entry per kernel, in row order;
// a slice is given to one kernel only. O(n log n).
std::vector<KernelMatch> MatchKernels(const Context& context);

// "kernel_details row 17 (MatMulV2)"
std::string KernelText(const Context& context, size_t kernel);

}  // namespace steplens::analysis::verify
