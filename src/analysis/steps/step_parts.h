#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "analysis/overlap/overlap.h"
#include "analysis/steps/steps.h"

namespace steplens::analysis {

// Whether work that crosses the border of a step counts on both sides of it.
inline bool CutsWork(std::span<const StepRange> steps) {
  return !steps.empty() && steps.front().cuts_work;
}

// visit(part) for the parts into which the steps cut an interval, in order; the whole of it where
// steps do not cut. Each part lies in one step, or between steps.
template <typename Visitor>
void ForEachStepPart(std::span<const StepRange> steps, Interval whole, Visitor&& visit) {
  if (!CutsWork(steps)) return visit(whole);
  Interval rest = whole;
  auto next = std::partition_point(steps.begin(), steps.end(), [&](const StepRange& step) {
    return step.end_ns <= whole.begin_ns;
  });
  for (; next != steps.end() && next->begin_ns < whole.end_ns; ++next) {
    for (const int64_t border_ns : {next->begin_ns, next->end_ns}) {
      if (border_ns <= rest.begin_ns || border_ns >= whole.end_ns) continue;
      visit(Interval{rest.begin_ns, border_ns});
      rest.begin_ns = border_ns;
    }
  }
  visit(rest);
}

// What Overlap Analysis covers: the work, and steps that cut it, for these ran on the device even
// where no work did.
inline Interval WithCuttingSteps(Interval work, std::span<const StepRange> steps) {
  if (!CutsWork(steps)) return work;
  return {std::min(work.begin_ns, steps.front().begin_ns),
          std::max(work.end_ns, steps.back().end_ns)};
}

}  // namespace steplens::analysis
