#include "analysis/steps/kernel_steps.h"

#include "analysis/steps/steps.h"

namespace steplens::analysis {

void FillKernelSteps(store::TraceStore& store) {
  const std::vector<StepRange> steps = ComputeStepRanges(store);
  if (steps.empty()) return;
  StepFinder finder(steps);
  for (size_t i = 0; i < store.kernels.size(); ++i) {
    const int64_t begin_ns = store.kernels.begin_ns[i];
    size_t step = finder.IndexOf(begin_ns);
    for (size_t s = 0; step == steps.size() && s < steps.size(); ++s) {
      if (steps[s].end_ns == begin_ns) step = s;
    }
    if (step < steps.size()) store.kernels.step.Set(i, steps[step].step);
  }
}

}  // namespace steplens::analysis
