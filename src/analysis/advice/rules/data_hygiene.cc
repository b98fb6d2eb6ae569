#include <fmt/format.h>

#include <algorithm>

#include "analysis/advice/rules/beyond.h"
#include "analysis/breakdown/step_times.h"

namespace steplens::analysis {
namespace {

constexpr double kWarmUp = 1.5;          // the first step against the median of the others
constexpr double kManyEvents = 300'000;  // of the host, per second: recording itself costs time
constexpr double kPerSecond = 1e9;

struct Flaw {
  Message subject;
  Message reason;
  Message advice;
};

// What rules look at that this capture does not have.
std::vector<Message> Missing(const RankEvidence& rank) {
  const store::TraceStore& store = rank.store();
  std::vector<Message> out;
  const auto any = [](const auto& column) {
    return std::any_of(column.begin(), column.end(),
                       [](StringId text) { return text != StringId::kEmpty; });
  };
  const bool has_python = std::any_of(
      store.slices.category.begin(), store.slices.category.end(),
      [&](StringId category) { return rank.view().slice_kinds()[category] == SliceKind::kPython; });
  if (!any(store.host_ops.input_shapes) && !any(store.kernels.input_shapes))
    out.push_back({"unrecorded.shapes"});
  if (!has_python && !any(store.host_ops.call_stack)) out.push_back({"unrecorded.stacks"});
  if (store.memory_samples.size() == 0 && store.allocations.size() == 0)
    out.push_back({"unrecorded.memory"});
  if (rank.is_ascend() && store.kernel_metrics.empty()) out.push_back({"unrecorded.metrics"});
  return out;
}

// How many times as long the first step takes as the median of the others; 0 if nobody can tell.
double FirstStepRatio(const std::vector<StepTime>& steps) {
  if (steps.size() < 4) return 0;
  std::vector<int64_t> others;
  for (size_t i = 1; i + 1 < steps.size(); ++i) others.push_back(steps[i].ns());
  std::nth_element(others.begin(), others.begin() + static_cast<int64_t>(others.size() / 2),
                   others.end());
  const int64_t usual_ns = others[others.size() / 2];
  return usual_ns > 0 ? static_cast<double>(steps.front().ns()) / static_cast<double>(usual_ns) : 0;
}

double HostEventsPerSecond(const RankEvidence& rank) {
  const store::SliceTable& slices = rank.store().slices;
  int64_t first_ns = INT64_MAX;
  int64_t last_ns = INT64_MIN;
  double count = 0;
  for (size_t s = 0; s < slices.size(); ++s) {
    const auto track = static_cast<size_t>(slices.track[s]);
    if (slices.track[s] == store::kNoTrack || rank.tracks()[track] != TrackKind::kHost) continue;
    ++count;
    first_ns = std::min(first_ns, slices.begin_ns[s]);
    last_ns = std::max(last_ns, slices.begin_ns[s]);
  }
  return count > 1 && last_ns > first_ns
             ? count * kPerSecond / static_cast<double>(last_ns - first_ns)
             : 0;
}

}  // namespace

std::vector<Finding> FindDataHygiene(const RankEvidence& rank) {
  const std::vector<StepTime> steps = StepTimesOf(rank.view());
  if (rank.store().slices.size() == 0) return {};
  std::vector<Flaw> flaws;
  const std::string list = fmt::format("SELECT * FROM step_times WHERE rank = {}", rank.rank());
  if (steps.empty()) {
    flaws.push_back({{"finding.hygiene.no_steps.title"},
                     {"finding.hygiene.no_steps"},
                     {"finding.hygiene.no_steps.advice"}});
  } else if (steps.size() == 1) {
    flaws.push_back({{"finding.hygiene.one_step.title"},
                     {"finding.hygiene.one_step"},
                     {"finding.hygiene.one_step.advice"}});
  }
  if (const double ratio = FirstStepRatio(steps); ratio > kWarmUp) {
    flaws.push_back({{"finding.hygiene.warm_up.title"},
                     {"finding.hygiene.warm_up", {{"ratio", fmt::format("{:.1f}", ratio)}}},
                     {"finding.hygiene.warm_up.advice"}});
  }
  if (const double rate = HostEventsPerSecond(rank); rate > kManyEvents) {
    flaws.push_back({{"finding.hygiene.overhead.title"},
                     {"finding.hygiene.overhead", {{"rate", fmt::format("{:.0f}", rate)}}},
                     {"finding.hygiene.overhead.advice"}});
  }
  std::vector<Finding> findings;
  for (const Flaw& flaw : flaws) {
    Finding finding = rank.Make(RuleId::kDataHygiene, flaw.subject, flaw.reason, flaw.advice);
    finding.effort = Effort::kSetting;
    finding.evidence = {{{"evidence.steps", {{"count", std::to_string(steps.size())}}}, list}};
    for (const Message& missing : Missing(rank))
      finding.evidence.push_back({{"evidence.missing", {{"what", missing}}}, list});
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace steplens::analysis
