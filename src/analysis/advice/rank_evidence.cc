#include "analysis/advice/rank_evidence.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/breakdown/breakdown.h"
#include "analysis/breakdown/step_times.h"
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
  // The average step as every page shows it.
  const int64_t mean_ns = MeanStepTime(StepTimesOf(rank)).ns();
  if (mean_ns > 0) times.step_ns = mean_ns * static_cast<int64_t>(times.steps);
  return times;
}

RankEvidence::RankEvidence(const store::Job& job, uint32_t rank_index)
    : job_(job),
      rank_index_(rank_index),
      view_(store()),
      times_(MeasureSteps(view_)),
      in_steps_(StepWindows(view_)) {}

// A capture of PyTorch on a machine without an accelerator has the same files; CANN is not in it.
bool RankEvidence::is_torch_npu() const {
  return platform() == Platform::kAscend && store().info.source == store::Source::kAscendPt &&
         std::find(tracks().begin(), tracks().end(), TrackKind::kCann) != tracks().end();
}

bool RankEvidence::IsInSteps(int64_t ts_ns) const {
  return in_steps_.Within({ts_ns, AddNs(ts_ns, 1)}) > 0;
}

std::vector<Interval> RankEvidence::InSteps(const std::vector<Interval>& intervals) const {
  std::vector<Interval> out;
  for (const Interval& window : in_steps_.runs()) {
    for (const Interval& one : intervals) {
      const Interval cut{std::max(one.begin_ns, window.begin_ns),
                         std::min(one.end_ns, window.end_ns)};
      if (cut.begin_ns < cut.end_ns) out.push_back(cut);
    }
  }
  return out;
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

const CommData& RankEvidence::communication() const {
  if (!communication_) communication_ = ReadCommData(job_, {});
  return *communication_;
}

double RankEvidence::PerStepUs(int64_t ns) const {
  return static_cast<double>(ns) / 1000 / static_cast<double>(times_.steps);
}

Saving RankEvidence::AtMost(int64_t ns, int64_t limit_ns) const {
  return {.ms = std::nullopt, .at_most_ms = PerStepUs(std::min(ns, limit_ns)) / 1000};
}

std::string RankEvidence::Percent(int64_t ns) const {
  const double share =
      times_.step_ns > 0 ? static_cast<double>(ns) / static_cast<double>(times_.step_ns) : 0;
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
