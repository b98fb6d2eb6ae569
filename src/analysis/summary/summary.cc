#include "analysis/summary/summary.h"

#include <set>

namespace steplens::analysis {

RankSummary Summarise(const store::TraceStore& store) {
  RankSummary out;
  out.counts = {
      {"slices", store.slices.size()},           {"flows", store.flows.size()},
      {"kernels", store.kernels.size()},         {"comm_ops", store.comm_ops.size()},
      {"allocations", store.allocations.size()}, {"memory_samples", store.memory_samples.size()},
      {"counters", store.counters.size()}};
  std::set<int64_t> steps(store.steps.step.begin(), store.steps.step.end());
  if (steps.empty()) steps.insert(store.step_traces.step.begin(), store.step_traces.step.end());
  if (steps.empty() && store.slices.size() == 0)
    steps.insert(store.kernels.step.begin(), store.kernels.step.end());
  steps.erase(store::kNone);
  out.steps.assign(steps.begin(), steps.end());
  out.extent = store::ComputeExtent(store);
  return out;
}

}  // namespace steplens::analysis
