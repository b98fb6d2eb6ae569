#include "analysis/complete/complete.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "analysis/complete/communication.h"
#include "analysis/cpu_device/complete.h"
#include "analysis/steps/kernel_steps.h"
#include "analysis/time_math.h"
#include "base/number.h"

namespace steplens::analysis {
namespace {

// Steps of a graph that runs as a whole: the host marks none of them, the device every iteration
// ("Iteration 3" on "Step Trace(Model ID:2)" of msprof's timeline). Of several models the one with
// the most iterations counts, that is the training; steps that are there stay.
void TakeStepsOfIterations(store::TraceStore& store) {
  constexpr std::string_view kPrefix = "Iteration ";
  const auto category = store.strings.Find("Iteration Time");
  if (!category || store.steps.size() > 0) return;
  std::map<store::TrackId, std::vector<store::StepTable::Row>> models;
  for (size_t i = 0; i < store.slices.size(); ++i) {
    if (store.slices.category[i] != *category) continue;
    const std::string_view name = store.Text(store.slices.name[i]);
    if (!name.starts_with(kPrefix)) continue;
    const auto step = ParseInt64(name.substr(kPrefix.size()));
    const int64_t begin_ns = store.slices.begin_ns[i];
    if (!step) continue;
    models[store.slices.track[i]].push_back(
        {*step, begin_ns, EndNs(begin_ns, store.slices.dur_ns[i])});
  }
  const auto training = std::max_element(
      models.begin(), models.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  if (training == models.end()) return;
  std::sort(training->second.begin(), training->second.end(),
            [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
  for (const store::StepTable::Row& step : training->second) store.steps.Append(step);
}

}  // namespace

void CompleteCapture(store::TraceStore& store) {
  if (store.info.format == "raw") return CompleteRawCapture(store);
  FillCommunicationSizes(store);
  if (store.info.format == "text") {
    TakeStepsOfIterations(store);
    return NameCommunicationGroups(store);
  }
  if (store.info.format != "db" || store.info.source == "nsys") return;
  const auto is_known = [](int64_t step) { return step != store::kNone; };
  if (std::none_of(store.kernels.step.begin(), store.kernels.step.end(), is_known)) {
    FillKernelSteps(store);
  }
  AddCommunicationTotals(store);
}

}  // namespace steplens::analysis
