#include "analysis/steps/steps.h"

#include <algorithm>
#include <tuple>

#include "analysis/launches/launches.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

std::vector<StepRange> HostSteps(const store::TraceStore& store) {
  std::vector<StepRange> steps;
  for (size_t i = 0; i < store.steps.size(); ++i) {
    const int64_t begin_ns = store.steps.begin_ns[i];
    const int64_t end_ns = store.steps.end_ns[i];
    if (!IsPlausible(begin_ns, end_ns)) continue;
    steps.push_back({store.steps.step[i], begin_ns, end_ns, begin_ns, end_ns});
  }
  std::sort(steps.begin(), steps.end(), [](const StepRange& a, const StepRange& b) {
    return std::tie(a.host_begin_ns, a.step) < std::tie(b.host_begin_ns, b.step);
  });
  return steps;
}

// Gathers the device work of the steps.
class StepCollector {
 public:
  StepCollector(const store::TraceStore& store, std::vector<StepRange>& steps)
      : begin_ns_(store.slices.begin_ns.span()),
        dur_ns_(store.slices.dur_ns.span()),
        steps_(steps),
        has_work_(steps.size(), false) {}

  void Add(const Launch& launch) {
    if (!Runs(last_, launch.host_ns)) last_ = LastBegun(launch.host_ns);
    if (!Runs(last_, launch.host_ns)) return;
    StepRange& step = steps_[last_];
    const auto d = static_cast<size_t>(launch.device);
    step.begin_ns = has_work_[last_] ? std::min(step.begin_ns, begin_ns_[d]) : begin_ns_[d];
    step.end_ns = std::max(step.end_ns, EndNs(begin_ns_[d], dur_ns_[d]));
    has_work_[last_] = true;
  }

 private:
  bool Runs(size_t s, int64_t host_ns) const {
    return steps_[s].host_begin_ns <= host_ns && host_ns <= steps_[s].host_end_ns &&
           (s + 1 == steps_.size() || host_ns < steps_[s + 1].host_begin_ns);
  }

  // Index of the last step with host_begin_ns <= host_ns; 0 if there is none.
  size_t LastBegun(int64_t host_ns) const {
    const auto after = std::upper_bound(
        steps_.begin(), steps_.end(), host_ns,
        [](int64_t ts_ns, const StepRange& step) { return ts_ns < step.host_begin_ns; });
    return after == steps_.begin() ? 0 : static_cast<size_t>(after - steps_.begin()) - 1;
  }

  std::span<const int64_t> begin_ns_;
  std::span<const int64_t> dur_ns_;
  std::vector<StepRange>& steps_;  // not empty
  std::vector<bool> has_work_;
  size_t last_ = 0;
};

// Whether all work began when its operator did, to the nanosecond: the call was the execution. An
// accelerator never manages that, not once for all of its work.
bool IsWorkOfTheHost(const store::TraceStore& store) {
  const auto launch = store.strings.Find("async_npu");
  if (!launch) return false;
  const auto& kind = store.flows.kind;
  bool found = false;
  for (size_t i = 0, rows = kind.size(); i < rows; ++i) {
    if (kind[i] != *launch) continue;
    if (store.flows.from_ns[i] != store.flows.to_ns[i]) return false;
    found = true;
  }
  return found;
}

// Nothing is launched ahead: a step ends with its host range, or where the next one begins.
void EndWithTheHost(std::vector<StepRange>& steps) {
  for (size_t s = 0; s < steps.size(); ++s) {
    steps[s].cuts_work = true;
    if (s + 1 < steps.size())
      steps[s].end_ns = std::min(steps[s].end_ns, steps[s + 1].host_begin_ns);
  }
}

}  // namespace

std::vector<StepRange> ComputeStepRanges(const store::TraceStore& store) {
  std::vector<StepRange> steps = HostSteps(store);
  if (steps.empty()) return steps;
  if (IsWorkOfTheHost(store)) {
    EndWithTheHost(steps);
    return steps;
  }
  const std::vector<TrackKind> tracks = ClassifyTracks(store);
  StepCollector collector(store, steps);
  const auto add = [&](const Launch& launch) { collector.Add(launch); };
  if (store::HasApiLaunches(store.info.format)) {
    ForEachApiLaunch(store, tracks, add);
  } else {
    ForEachOperatorLaunch(store, tracks, add);
  }
  return steps;
}

size_t StepFinder::Search(int64_t ts_ns) {
  if (ts_ns < last_ts_ns_) passed_ = 0;
  last_ts_ns_ = ts_ns;
  while (passed_ < steps_.size() && steps_[passed_].end_ns <= ts_ns) ++passed_;
  for (size_t i = passed_; i < steps_.size(); ++i) {
    if (steps_[i].begin_ns <= ts_ns && ts_ns < steps_[i].end_ns) return i;
    // Neither the host nor the device had reached this step, nor therefore a later one.
    if (steps_[i].begin_ns > ts_ns && steps_[i].host_begin_ns > ts_ns) break;
  }
  return steps_.size();
}

}  // namespace steplens::analysis
