#include "analysis/steps/kernel_steps.h"

#include "analysis/steps/steps.h"

namespace steplens::analysis {

std::vector<int64_t> KernelSteps(const store::TraceStore& store) {
  std::vector<int64_t> out(store.kernels.size(), store::kNone);
  const std::vector<StepRange> steps = ComputeStepRanges(store);
  if (steps.empty()) return out;
  StepFinder finder(steps);
  for (size_t i = 0; i < store.kernels.size(); ++i) {
    const int64_t begin_ns = store.kernels.begin_ns[i];
    size_t step = finder.IndexOf(begin_ns);
    for (size_t s = 0; step == steps.size() && s < steps.size(); ++s) {
      if (steps[s].end_ns == begin_ns) step = s;
    }
    if (step < steps.size()) out[i] = steps[step].step;
  }
  return out;
}

void FillKernelSteps(store::TraceStore& store) {
  const std::vector<int64_t> steps = KernelSteps(store);
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i] != store::kNone) store.kernels.step.Set(i, steps[i]);
  }
}

}  // namespace steplens::analysis
