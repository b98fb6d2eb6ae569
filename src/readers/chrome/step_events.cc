#include "readers/chrome/step_events.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/number.h"
#include "store/slice_kind.h"

namespace steplens::readers {
namespace {

using store::kNone;

struct FoundStep {
  int64_t step;
  int64_t begin_ns;
  int64_t end_ns;
  size_t slice;
};

// A step may be there twice, as an operator and as a mark beside it: of those that overlap the
// longest counts. In the order of slices.
std::vector<FoundStep> WithoutCopies(std::vector<FoundStep> found) {
  std::sort(found.begin(), found.end(), [](const FoundStep& a, const FoundStep& b) {
    return std::tie(a.step, a.begin_ns, a.slice) < std::tie(b.step, b.begin_ns, b.slice);
  });
  std::vector<FoundStep> kept;
  int64_t end_ns = 0;  // of all that the last kept one stands for
  for (const FoundStep& step : found) {
    const bool is_copy = !kept.empty() && kept.back().step == step.step && step.begin_ns < end_ns;
    if (!is_copy) {
      kept.push_back(step);
      end_ns = step.end_ns;
      continue;
    }
    end_ns = std::max(end_ns, step.end_ns);
    FoundStep& known = kept.back();
    if (step.end_ns - step.begin_ns > known.end_ns - known.begin_ns) known = step;
  }
  std::sort(kept.begin(), kept.end(),
            [](const FoundStep& a, const FoundStep& b) { return a.slice < b.slice; });
  return kept;
}

}  // namespace

void FillSteps(store::TraceStore& out) {
  constexpr std::string_view kPrefix = "ProfilerStep#";
  std::vector<int64_t> step_of(out.strings.size(), kNone);  // by name
  bool any = false;
  for (uint32_t id = 0; id < out.strings.size(); ++id) {
    const std::string_view name = out.strings.Get(StringId{id});
    if (!name.starts_with(kPrefix)) continue;
    step_of[id] = ParseInt64(name.substr(kPrefix.size())).value_or(kNone);
    any = any || step_of[id] != kNone;
  }
  if (!any) return;
  const auto is_on_device = [&](size_t slice) {
    return store::KindOfCategory(out.Text(out.slices.category[slice])) ==
           store::SliceKind::kDeviceAnnotation;
  };
  const auto names = out.slices.name.span();
  std::vector<FoundStep> found;
  for (size_t i = 0; i < names.size(); ++i) {
    const int64_t step = step_of[static_cast<size_t>(names[i])];
    if (step == kNone || is_on_device(i)) continue;
    found.push_back(
        {step, out.slices.begin_ns[i], out.slices.begin_ns[i] + out.slices.dur_ns[i], i});
  }
  for (const FoundStep& step : WithoutCopies(std::move(found))) {
    out.steps.Append({step.step, step.begin_ns, step.end_ns});
  }
}

}  // namespace steplens::readers
