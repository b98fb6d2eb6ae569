#include "analysis/complete/complete.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/classify/classify.h"
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

// Where a track lies, for people: "GPU 0, stream 7".
std::string PlaceOf(const store::TraceStore& store, size_t track) {
  const auto process = static_cast<size_t>(store.tracks.parent[track]);
  std::string_view label;
  if (process < store.tracks.size()) label = store.Text(store.tracks.label[process]);
  std::string_view name = store.Text(store.tracks.name[track]);
  while (name.ends_with(' ')) name.remove_suffix(1);
  if (label.empty() && name.empty()) {
    return fmt::format("process {}, thread {}", store.Text(store.tracks.pid[track]),
                       store.Text(store.tracks.tid[track]));
  }
  return fmt::format("{}{}{}", label, label.empty() || name.empty() ? "" : ", ", name);
}

// A device that nothing is known of must not pass for a run without a device.
void ReportUnknownDevice(store::TraceStore& store) {
  if (store.kernels.size() > 0) return;
  const std::vector<TrackKind> tracks = ClassifyTracks(store);
  if (DetectPlatform(store, tracks) != Platform::kUnknownDevice) return;
  uint64_t count = 0;
  std::string first;
  for (size_t i = 0; i < store.slices.size(); ++i) {
    const auto track = static_cast<size_t>(store.slices.track[i]);
    if (track >= tracks.size() || tracks[track] != TrackKind::kUnknownDevice) continue;
    if (count++ > 0) continue;
    first = fmt::format("{}: event '{}' has the category '{}'", PlaceOf(store, track),
                        store.Text(store.slices.name[i]), store.Text(store.slices.category[i]));
  }
  store.issues.Add(store::IssueKind::kDeviceUnknown, first, count);
}

}  // namespace

void CompleteCapture(store::TraceStore& store) {
  // A raw PROF_* alone: its reader has joined host and device, there is no framework to add to it.
  const bool is_joined =
      store::IsRaw(store.info.format) && store.info.source == store::Source::kMsprof;
  if (store::IsRaw(store.info.format) && !is_joined) return CompleteRawCapture(store);
  ReportUnknownDevice(store);
  FillCommunicationSizes(store);
  if (store.info.format == store::Format::kText || is_joined) {
    TakeStepsOfIterations(store);
    return NameCommunicationGroups(store);
  }
  if (store.info.format != store::Format::kDb || store.info.source == store::Source::kNsys) return;
  const auto is_known = [](int64_t step) { return step != store::kNone; };
  if (std::none_of(store.kernels.step.begin(), store.kernels.step.end(), is_known)) {
    FillKernelSteps(store);
  }
  AddCommunicationTotals(store);
}

}  // namespace steplens::analysis
