#include "analysis/advice/rules/op_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/sql_text.h"

namespace steplens::analysis {

std::vector<OpRun> SmallOpRuns(const RankEvidence& rank) {
  constexpr int64_t kUs = 1000;
  // On a CPU an operator computes in its own time: it must be shorter to be a call and no more.
  const bool is_host_only = rank.is_on_host();
  return FindOpRuns(rank, {.longest_op_ns = (is_host_only ? 30 : 100) * kUs,
                           .longest_gap_ns = 60 * kUs,
                           .most_names = 4,
                           .fewest_ops = 30});
}

bool ReadsNumbers(const OpRun& run) {
  return std::any_of(run.names.begin(), run.names.end(), [](std::string_view name) {
    return name == "aten::item" || name == "aten::_local_scalar_dense" ||
           name == "aten::is_nonzero" || name == "aten::equal";
  });
}

std::string SortedNames(const OpRun& run) {
  std::vector<std::string_view> names = run.names;
  std::sort(names.begin(), names.end());
  return ShortNames(names);
}

void RunGroup::Add(OpRun& run, Interval without, const std::vector<store::SliceId>& of_device) {
  if (without.end_ns <= without.begin_ns) return;
  sum_ns += without.end_ns - without.begin_ns;
  calls += run.slices.size();
  gone.push_back(without);
  device.insert(device.end(), of_device.begin(), of_device.end());
  if (run.slices.size() > longest.slices.size()) longest = std::move(run);
}

std::string RunGroup::CallsPerStep(const RankEvidence& rank) const {
  const auto steps = static_cast<double>(rank.times().steps);
  return fmt::format("{:.0f}", std::round(static_cast<double>(calls) / steps));
}

void RunGroup::Fill(const RankEvidence& rank, Finding& finding) {
  finding.saving = rank.AtMost(sum_ns, rank.times().step_ns);
  finding.confidence = Confidence::kEstimated;
  finding.places = {{rank.rank(), longest.range, longest.slices.front(), SortedNames(longest)}};
  std::string names;
  for (const std::string_view name : longest.names)
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", SqlText(name));
  finding.evidence = {
      {{"evidence.run",
        {{"count", std::to_string(longest.slices.size())},
         {"time", SentenceTime(static_cast<double>(longest.range.end_ns - longest.range.begin_ns) /
                               1000)}}},
       fmt::format("SELECT name, count(*), sum(dur_ns) FROM slices WHERE rank = {} AND name IN "
                   "({}) GROUP BY name",
                   rank.rank(), names)}};
  AddCallSite(rank, longest.slices.front(), finding);
  std::sort(gone.begin(), gone.end(),
            [](const Interval& a, const Interval& b) { return a.begin_ns < b.begin_ns; });
  std::sort(device.begin(), device.end());
  finding.change = RemoveWork(rank, {}, device);
  finding.change.push_back(RemoveHostTime(rank, gone));
}

}  // namespace steplens::analysis
