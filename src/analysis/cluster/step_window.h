#pragma once

#include <cstdint>
#include <limits>

#include "analysis/cluster/options.h"
#include "store/trace_store.h"

namespace steplens::analysis::cluster {

// The host time of the step a recipe is limited to, both ends included.
struct StepWindow {
  int64_t begin_ns = std::numeric_limits<int64_t>::min();
  int64_t end_ns = std::numeric_limits<int64_t>::max();
  bool Contains(int64_t ts_ns) const { return ts_ns >= begin_ns && ts_ns <= end_ns; }
};

// All time without --step_id; the step's, with it. A rank without that step has an empty window, so
// that it contributes nothing (in compat mode: all time, as the reference has it).
inline StepWindow FindStepWindow(const store::TraceStore& rank, const Options& options) {
  if (!options.step) return {};
  for (size_t i = 0; i < rank.steps.size(); ++i) {
    if (rank.steps.step[i] == *options.step) return {rank.steps.begin_ns[i], rank.steps.end_ns[i]};
  }
  if (options.compat) return {};
  return {1, 0};
}

}  // namespace steplens::analysis::cluster
