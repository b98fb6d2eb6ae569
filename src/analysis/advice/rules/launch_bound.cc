#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/advice/rules/beyond.h"
#include "analysis/advice/rules/op_runs.h"
#include "analysis/sql_text.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

// On a device, what the run computes is less than half of what calling it takes.
bool IsCalling(const RankEvidence& rank, const OpRun& run) {
  if (rank.is_on_host()) return true;
  const int64_t run_ns = run.range.end_ns - run.range.begin_ns;
  return !run.later_work.empty() && TotalOf(rank.store(), run.later_work) < run_ns / 2;
}

}  // namespace

std::vector<Finding> FindLaunchBound(const RankEvidence& rank) {
  std::map<std::string, RunGroup> groups;
  for (OpRun& run : SmallOpRuns(rank)) {
    if (ReadsNumbers(run)) continue;
    if (!IsCalling(rank, run)) continue;
    const store::SliceTable& slices = rank.store().slices;
    const auto first = static_cast<size_t>(run.slices.front());
    groups[SortedNames(run)].Add(
        run, {EndNs(slices.begin_ns[first], slices.dur_ns[first]), run.range.end_ns},
        run.later_work);
  }
  std::vector<Finding> findings;
  for (auto& [names, group] : groups) {
    if (!rank.IsNoticeable(group.sum_ns)) continue;
    Finding finding =
        rank.Make(RuleId::kLaunchBound, {"finding.name", {{"name", names}}},
                  {"finding.launch_bound.reason",
                   {{"count", group.CallsPerStep(rank)}, {"percent", rank.Percent(group.sum_ns)}}},
                  {"finding.launch_bound.advice"});
    group.Fill(rank, finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace steplens::analysis
