#include "analysis/advice/rank_evidence.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/breakdown/breakdown.h"
#include "analysis/breakdown/step_times.h"
#include "analysis/classify/cpu_words.h"
#include "analysis/overlap/overlap_lanes.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

// The device time of the steps; all time without steps.
Cover StepWindows(const RankView& rank) {
  std::vector<Interval> windows;
  for (const StepRange& step : rank.steps()) windows.push_back({step.begin_ns, step.end_ns});
  if (windows.empty()) windows.push_back({INT64_MIN / 4, INT64_MAX / 4});
  return Cover(std::move(windows));
}

// What of the intervals lies in the windows.
std::vector<Interval> CutTo(const Cover& windows, const std::vector<Interval>& intervals) {
  const std::span<const Interval> runs = windows.runs();
  std::vector<Interval> out;
  for (const Interval& one : intervals) {
    auto run = std::upper_bound(
        runs.begin(), runs.end(), one.begin_ns,
        [](int64_t begin_ns, const Interval& window) { return begin_ns < window.end_ns; });
    for (; run != runs.end() && run->begin_ns < one.end_ns; ++run) {
      out.push_back({std::max(one.begin_ns, run->begin_ns), std::min(one.end_ns, run->end_ns)});
    }
  }
  return out;
}

}  // namespace

StepTimes MeasureSteps(const RankView& rank) {
  StepTimes times;
  times.steps = std::max<size_t>(1, rank.steps().size());
  const auto add = [](int64_t& sum_ns, int64_t ns) {
    if (ns != store::kNone) sum_ns = AddNs(sum_ns, std::max<int64_t>(0, ns));
  };
  for (const StepParts& step : BreakDown(rank)) {
    add(times.step_ns, step.stage_ns);
    add(times.step_ns, step.bubble_ns);
    add(times.computing_ns, step.computing_ns);
    add(times.exposed_ns, step.comm_not_overlapped_ns);
    add(times.overlapped_ns, step.overlapped_ns);
    add(times.free_ns, step.free_ns);
  }
  if (times.step_ns <= 0) {
    const store::Extent extent = store::ComputeExtent(rank.store());
    times.step_ns = std::max<int64_t>(0, AddNs(extent.end_ns, -extent.begin_ns));
  }
  // The average step as every page shows it.
  const int64_t mean_ns = MeanStepTime(StepTimesOf(rank)).ns();
  if (mean_ns > 0) times.step_ns = mean_ns * static_cast<int64_t>(times.steps);
  return times;
}

namespace {

Cover HostStepWindows(const RankView& rank) {
  std::vector<Interval> windows;
  for (const StepRange& step : rank.steps())
    windows.push_back({step.host_begin_ns, step.host_end_ns});
  if (windows.empty()) windows.push_back({INT64_MIN / 4, INT64_MAX / 4});
  return Cover(std::move(windows));
}

// Recorded by this project's collector, which may have seen a CPU alone.
bool IsOwnRecording(const store::TraceStore& store) {
  for (size_t i = 0; i < store.meta.size(); ++i) {
    if (store.Text(store.meta.name[i]).starts_with("steplens_")) return true;
  }
  return false;
}

bool HasCann(const RankView& rank) {
  const std::vector<TrackKind>& tracks = rank.tracks();
  return std::find(tracks.begin(), tracks.end(), TrackKind::kCann) != tracks.end();
}

// This project's own recordings of a CPU have the files of an accelerator, whose calls they lack.
bool IsOnHost(const RankView& rank) {
  if (rank.platform() == Platform::kHostOnly) return true;
  if (rank.platform() != Platform::kAscend) return false;
  return IsCpuCapture(rank.store()) ||
         (IsOwnRecording(rank.store()) && !SaysNpu(rank.store()) && !HasCann(rank));
}

// A small capture may hold no work of the device: then the recorder's settings or CANN's calls say
// whose it is.
bool IsAscendCapture(const RankView& rank) {
  const Platform platform = rank.platform();
  if (platform == Platform::kAscend) return !IsOnHost(rank);
  if (platform != Platform::kHostOnly) return false;
  return SaysNpu(rank.store()) || HasCann(rank);
}

}  // namespace

RankEvidence::RankEvidence(const store::Job& job, uint32_t rank_index, AdviceContext* context)
    : RankEvidence(job, RankView(job.ranks[rank_index]), context) {}

RankEvidence::RankEvidence(const store::Job& job, const RankView& view, AdviceContext* context)
    : job_(job),
      rank_index_(static_cast<uint32_t>(&view.store() - job.ranks.data())),
      view_(view),
      times_(MeasureSteps(view_)),
      in_steps_(StepWindows(view_)),
      in_host_steps_(HostStepWindows(view_)),
      is_on_host_(IsOnHost(view_)),
      is_ascend_(IsAscendCapture(view_)),
      given_(context) {}

// A capture of PyTorch on a machine without an accelerator has the same files; CANN is not in it.
bool RankEvidence::is_torch_npu() const {
  if (!is_ascend() || store().info.source != store::Source::kAscendPt) return false;
  if (SaysNpu(store()) || HasCann(view_)) return true;
  return !IsOwnRecording(store()) && !store().FindMeta("config.common_config.activities");
}

bool RankEvidence::may_be_ascend() const {
  return is_ascend() || (platform() == Platform::kHostOnly && !IsOwnRecording(store()));
}

const HostEvents& RankEvidence::host_events() const {
  if (!host_events_) host_events_ = CollectHostEvents(store());
  return *host_events_;
}

bool RankEvidence::IsInHostSteps(int64_t ts_ns) const {
  return in_host_steps_.Within({ts_ns, AddNs(ts_ns, 1)}) > 0;
}

const std::optional<compare::Overall>& RankEvidence::overall() const {
  if (has_measured_overall_) return overall_;
  has_measured_overall_ = true;
  compare::SheetOptions options;
  options.compat = is_ascend_;  // the window of the capture's own lanes
  const Result<compare::Side> side = compare::CollectSide(view_, options, std::nullopt);
  if (!side.ok()) return overall_;
  const Result<compare::Overall> measured = compare::MeasureOverall(*side, options);
  if (measured.ok() && measured->e2e_ns > 0) overall_ = *measured;
  return overall_;
}

std::string RankEvidence::DetailName(RuleId rule) const {
  return fmt::format("{} rank {}", RuleName(rule), rank());
}

const Cover& RankEvidence::free_time() const {
  if (free_time_) return *free_time_;
  std::vector<Interval> gaps;
  int64_t first_work_ns = INT64_MAX;
  for (const OverlapLanes& device : ComputeOverlapLanes(store())) {
    gaps.insert(gaps.end(), device.free.begin(), device.free.end());
    for (const auto* work : {&device.computing, &device.communication}) {
      if (!work->empty()) first_work_ns = std::min(first_work_ns, work->front().begin_ns);
    }
  }
  // Before its first work of a step the device is free, too: the host's steps know of it.
  std::vector<Interval> free = CutTo(in_steps_, gaps);
  if (!view_.steps().empty() && first_work_ns != INT64_MAX)
    gaps.push_back({INT64_MIN / 4, first_work_ns});
  const std::vector<Interval> preparing = CutTo(in_host_steps_, gaps);
  free.insert(free.end(), preparing.begin(), preparing.end());
  free_time_ = Cover(std::move(free));
  return *free_time_;
}

bool RankEvidence::IsInSteps(int64_t ts_ns) const {
  return in_steps_.Within({ts_ns, AddNs(ts_ns, 1)}) > 0;
}

std::vector<Interval> RankEvidence::InSteps(const std::vector<Interval>& intervals) const {
  return CutTo(in_steps_, intervals);
}

std::vector<Interval> RankEvidence::Exposed() const {
  std::vector<Interval> exposed;
  for (const OverlapLanes& device : ComputeOverlapLanes(store()))
    exposed.insert(exposed.end(), device.not_overlapped.begin(), device.not_overlapped.end());
  return InSteps(exposed);
}

const FreeCauses& RankEvidence::free_causes() const {
  if (free_causes_) return *free_causes_;
  std::vector<Interval> gaps;
  for (const OverlapLanes& device : ComputeOverlapLanes(store()))
    gaps.insert(gaps.end(), device.free.begin(), device.free.end());
  free_causes_ = FindFreeCauses(job_, rank_index_, InSteps(gaps));
  return *free_causes_;
}

const HostOps& RankEvidence::host_ops() const {
  if (!host_ops_) host_ops_ = ComputeHostOps(store());
  return *host_ops_;
}

const CommData& RankEvidence::communication() const {
  std::optional<CommData>& known = context().communication;
  if (!known) known = ReadCommData(job_, {});
  return *known;
}

double RankEvidence::PerStepUs(int64_t ns) const {
  return static_cast<double>(ns) / 1000 / static_cast<double>(times_.steps);
}

Saving RankEvidence::AtMost(int64_t ns, int64_t limit_ns) const {
  const int64_t most_ns = std::min({ns, limit_ns, times_.step_ns});
  return {.ms = std::nullopt, .at_most_ms = PerStepUs(most_ns) / 1000};
}

std::string RankEvidence::Percent(int64_t ns) const {
  // Where steps differ much, a part may be more than the step time that all pages show.
  const double share = times_.step_ns > 0 ? static_cast<double>(std::min(ns, times_.step_ns)) /
                                                static_cast<double>(times_.step_ns)
                                          : 0;
  return fmt::format("{:.1f}", 100 * share);
}

bool RankEvidence::IsNoticeable(int64_t ns) const {
  constexpr double kNoticeable = 0.05;
  return ns > 0 && static_cast<double>(ns) >= kNoticeable * static_cast<double>(times_.step_ns);
}

Place RankEvidence::PlaceOfSlice(store::SliceId slice) const {
  const auto row = static_cast<size_t>(slice);
  const store::SliceTable& slices = store().slices;
  return {rank(),
          {slices.begin_ns[row], EndNs(slices.begin_ns[row], slices.dur_ns[row])},
          slice,
          std::string(store().Text(slices.name[row]))};
}

Place RankEvidence::PlaceOfKernel(uint32_t kernel) const {
  const store::KernelTable& kernels = store().kernels;
  return {rank(),
          {kernels.begin_ns[kernel], EndNs(kernels.begin_ns[kernel], kernels.dur_ns[kernel])},
          store::kNoSlice,
          std::string(store().Text(kernels.name[kernel]))};
}

Finding RankEvidence::Make(RuleId rule, Message subject, Message reason, Message advice) const {
  Finding finding;
  finding.rule = rule;
  finding.subject = std::move(subject);
  finding.reason = std::move(reason);
  finding.advice = std::move(advice);
  finding.ranks = {rank()};
  return finding;
}

std::string SentenceTime(double us) {
  return us >= 1000 ? fmt::format("{:.3f} ms", us / 1000) : fmt::format("{:.1f} us", us);
}

}  // namespace steplens::analysis
