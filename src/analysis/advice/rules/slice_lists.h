#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/classify/classify.h"
#include "store/trace_store.h"

namespace steplens::analysis {

// Occurrences from which ACLNN calls and compilations are listed.
inline constexpr size_t kOften = 20;

// Rows of slices in which an operator was compiled while the job ran; none if that is rare.
std::vector<size_t> ListCompilations(const store::TraceStore& store,
                                     const std::vector<TrackKind>& tracks);

// Steps of an optimizer that torch_npu has a fused form of.
struct SlowOptimizer {
  size_t slice = 0;
  std::string by;  // "torch_npu.optim.NpuFusedAdam"
};
std::vector<SlowOptimizer> ListSlowOptimizers(const store::TraceStore& store);

}  // namespace steplens::analysis
