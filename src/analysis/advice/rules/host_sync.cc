#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/advice/rules/beyond.h"
#include "analysis/advice/rules/op_runs.h"
#include "analysis/classify/text_memo.h"
#include "analysis/classify/wait_kind.h"
#include "analysis/launches/launches.h"
#include "analysis/sql_text.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

using store::SliceId;

// When the host launched work, ascending.
std::vector<int64_t> HostLaunchTimes(const RankEvidence& rank) {
  std::vector<int64_t> out;
  ForEachOperatorLaunch(rank.store(), rank.view().tracks(),
                        [&](const Launch& launch) { out.push_back(launch.host_ns); });
  std::sort(out.begin(), out.end());
  return out;
}

// Waits after which the same step still launches something: those at its end are not in the way.
std::vector<SliceId> WaitsInSteps(const RankEvidence& rank) {
  const store::TraceStore& store = rank.store();
  const store::SliceTable& slices = store.slices;
  const std::vector<TrackKind>& tracks = rank.tracks();
  TextMemo is_wait(store, [](std::string_view name) {
    return WaitKindOf(name, TrackKind::kHost) == WaitKind::kHost;
  });
  const std::vector<int64_t> launches = HostLaunchTimes(rank);
  const Cover steps = HostSteps(rank);
  std::vector<SliceId> out;
  for (size_t s = 0; s < slices.size(); ++s) {
    if (!is_wait(slices.name[s]) || slices.track[s] == store::kNoTrack) continue;
    const TrackKind kind = tracks[static_cast<size_t>(slices.track[s])];
    if (kind == TrackKind::kDevice || kind == TrackKind::kCommGroup ||
        kind == TrackKind::kCommPlane || kind == TrackKind::kOverlap) {
      continue;
    }
    const SliceId parent = rank.view().nesting().parent[s];
    if (parent != store::kNoSlice && is_wait(slices.name[static_cast<size_t>(parent)])) continue;
    const int64_t end_ns = EndNs(slices.begin_ns[s], slices.dur_ns[s]);
    const auto step =
        std::partition_point(steps.runs().begin(), steps.runs().end(),
                             [&](const Interval& run) { return run.end_ns <= slices.begin_ns[s]; });
    if (step == steps.runs().end() || step->begin_ns > slices.begin_ns[s]) continue;
    // Runs of steps that touch are one: the step ends where the host marked it.
    int64_t until_ns = step->end_ns;
    for (const StepRange& one : rank.view().steps()) {
      if (one.host_begin_ns <= slices.begin_ns[s] && slices.begin_ns[s] < one.host_end_ns)
        until_ns = one.host_end_ns;
    }
    const auto next = std::lower_bound(launches.begin(), launches.end(), end_ns);
    if (next != launches.end() && *next < until_ns) out.push_back(static_cast<SliceId>(s));
  }
  return out;
}

std::vector<Finding> FindDeviceWaits(const RankEvidence& rank) {
  const std::vector<SliceId> waits = WaitsInSteps(rank);
  const store::SliceTable& slices = rank.store().slices;
  const int64_t sum_ns = TotalOf(rank.store(), waits);
  if (!rank.IsNoticeable(sum_ns)) return {};
  const SliceId longest = *std::max_element(waits.begin(), waits.end(), [&](SliceId a, SliceId b) {
    return slices.dur_ns[static_cast<size_t>(a)] < slices.dur_ns[static_cast<size_t>(b)];
  });
  const std::string name(rank.store().Text(slices.name[static_cast<size_t>(longest)]));
  Finding finding =
      rank.Make(RuleId::kHostSync, {"finding.host_sync"},
                {"finding.host_sync.reason",
                 {{"count", fmt::format("{:.1f}", static_cast<double>(waits.size()) /
                                                      static_cast<double>(rank.times().steps))},
                  {"percent", rank.Percent(sum_ns)}}},
                {"finding.host_sync.advice"});
  finding.saving = rank.AtMost(sum_ns, rank.times().step_ns);
  finding.confidence = Confidence::kEstimated;
  finding.places = {rank.PlaceOfSlice(longest)};
  finding.evidence = {
      {{"evidence.longest_wait",
        {{"name", name},
         {"time",
          SentenceTime(static_cast<double>(slices.dur_ns[static_cast<size_t>(longest)]) / 1000)}}},
       fmt::format("SELECT begin_ns, dur_ns FROM slices WHERE rank = {} AND name = '{}' ORDER BY "
                   "dur_ns DESC",
                   rank.rank(), SqlText(name))}};
  AddCallSite(rank, longest, finding);
  Edit edit{.action = Edit::Action::kRemove, .factor = 0};
  edit.selector.part = EditSelector::Part::kSync;
  edit.selector.rank = rank.rank();
  edit.selector.slices = waits;
  finding.change = {edit};
  return {finding};
}

}  // namespace

std::vector<Finding> FindHostSyncs(const RankEvidence& rank) {
  if (!rank.is_on_host()) return FindDeviceWaits(rank);
  std::map<std::string, RunGroup> groups;
  for (OpRun& run : SmallOpRuns(rank)) {
    const Interval range = run.range;
    if (!ReadsNumbers(run)) continue;
    const std::vector<SliceId> work = LaunchedBy(rank, run.slices);
    groups[SortedNames(run)].Add(run, range, work);
  }
  std::vector<Finding> findings;
  for (auto& [names, group] : groups) {
    if (!rank.IsNoticeable(group.sum_ns)) continue;
    Finding finding =
        rank.Make(RuleId::kHostSync, {"finding.name", {{"name", names}}},
                  {"finding.host_sync.numbers",
                   {{"count", group.CallsPerStep(rank)}, {"percent", rank.Percent(group.sum_ns)}}},
                  {"finding.host_sync.advice"});
    group.Fill(rank, finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace steplens::analysis
