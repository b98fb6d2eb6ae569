#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "analysis/advice/finding_table.h"
#include "analysis/cells.h"
#include "analysis/cluster/summary/job_findings.h"
#include "analysis/viewer/metrics.h"
#include "analysis/viewer/rank_loads.h"

// The Summary page: ranks that differ too much, and the slow groups behind it.

namespace steplens::analysis::viewer {
namespace {

constexpr double kNoticeable = 0.05;  // of the mean total, or of the longest communication

table::Table Differences(const std::vector<RankLoad>& loads) {
  TableRows rows("differences",
                 {TextColumn("metric"), NumberColumn("Max(us)", 3), NumberColumn("Min(us)", 3),
                  NumberColumn("Difference(us)", 3), NumberColumn("Ratio(%)", 2),
                  IntColumn("max_rank"), IntColumn("min_rank"), TextColumn("Result")});
  if (loads.empty()) return rows.Take();
  double sum_us = 0;
  for (const RankLoad& load : loads) sum_us += load.total_us();
  const double mean_us = sum_us / static_cast<double>(loads.size());
  const std::pair<const char*, double RankLoad::*> metrics[] = {
      {"Computing", &RankLoad::computing_us},
      {"Communication(Not Overlapped)", &RankLoad::not_overlapped_us},
      {"Free", &RankLoad::free_us}};
  for (const auto& [name, field] : metrics) {
    const auto [low, high] = std::minmax_element(
        loads.begin(), loads.end(),
        [&](const RankLoad& a, const RankLoad& b) { return a.*field < b.*field; });
    const double difference_us = (*high).*field - (*low).*field;
    const double share = Share(difference_us, mean_us);
    rows.Add(name, RoundTo((*high).*field, 3), RoundTo((*low).*field, 3), RoundTo(difference_us, 3),
             RoundTo(100 * share, 2), high->rank, low->rank, share > kNoticeable ? "Issue" : "OK");
  }
  return rows.Take();
}

// An element that makes the others of its parallel dimension wait.
struct SlowElement {
  std::string name;
  std::string parallel;  // of the last dimension looked at: dp, cp, tp
  double sync_ms = 0;
  double share = 0;
  std::vector<int64_t> ranks;
};

// Goes down DP, CP and TP: of the elements that share everything but one dimension, those that
// spend less time than the longest in that dimension's communication came late.
class SlowGroups {
 public:
  SlowGroups(const Strategy& strategy, std::map<int64_t, std::map<std::string, double>> times)
      : strategy_(strategy), times_(std::move(times)) {}

  // False if the data has no communication of a dimension that the strategy has.
  bool Find() {
    std::vector<SlowElement> candidates;
    for (int64_t pp = 0; pp < strategy_.pp; ++pp) {
      SlowElement stage{fmt::format("pp{}", pp), "", 0, 0, {}};
      for (int64_t rank = 0; rank < strategy_.World(); ++rank) {
        if (PlaceOf(strategy_, rank).pp == pp) stage.ranks.push_back(rank);
      }
      candidates.push_back(std::move(stage));
    }
    bool is_matching = true;
    const std::tuple<const char*, int64_t, int64_t RankPlace::*> levels[] = {
        {"dp", strategy_.dp, &RankPlace::dp},
        {"cp", strategy_.cp, &RankPlace::cp},
        {"tp", strategy_.tp, &RankPlace::tp}};
    for (const auto& [parallel, size, index] : levels) {
      if (size == 1) continue;
      if (!HasTimes(parallel)) {
        is_matching = false;
        break;
      }
      std::vector<SlowElement> deeper;
      for (const SlowElement& candidate : candidates) Divide(candidate, parallel, index, deeper);
      if (deeper.empty()) break;
      candidates = std::move(deeper);
      found_ = candidates;
    }
    std::stable_sort(found_.begin(), found_.end(), [](const SlowElement& a, const SlowElement& b) {
      return a.sync_ms > b.sync_ms;
    });
    if (found_.size() > 3) found_.resize(3);
    return is_matching;
  }
  const std::vector<SlowElement>& found() const { return found_; }

 private:
  bool HasTimes(const std::string& parallel) const {
    return std::any_of(times_.begin(), times_.end(),
                       [&](const auto& rank) { return rank.second.contains(parallel); });
  }

  // The mean time of the ranks in the dimension's communication; NaN if none has any.
  double MeanMs(const std::vector<int64_t>& ranks, const std::string& parallel) const {
    double sum_ms = 0;
    size_t count = 0;
    for (const int64_t rank : ranks) {
      const auto times = times_.find(rank);
      if (times == times_.end()) continue;
      const auto time = times->second.find(parallel);
      if (time == times->second.end()) continue;
      sum_ms += time->second;
      ++count;
    }
    return count == 0 ? kNoNumber : sum_ms / static_cast<double>(count);
  }

  void Divide(const SlowElement& whole, const std::string& parallel, int64_t RankPlace::* index,
              std::vector<SlowElement>& out) const {
    std::map<int64_t, std::vector<int64_t>> parts;
    for (const int64_t rank : whole.ranks) {
      parts[PlaceOf(strategy_, rank).*index].push_back(rank);
    }
    double longest_ms = 0;
    for (const auto& [i, ranks] : parts)
      longest_ms = std::fmax(longest_ms, MeanMs(ranks, parallel));
    for (const auto& [i, ranks] : parts) {
      const double sync_ms = longest_ms - MeanMs(ranks, parallel);
      if (!(longest_ms > 0) || !(sync_ms / longest_ms > kNoticeable)) continue;
      out.push_back({fmt::format("{}-{}{}", whole.name, parallel, i), parallel, sync_ms,
                     sync_ms / longest_ms, ranks});
    }
  }

  Strategy strategy_;
  std::map<int64_t, std::map<std::string, double>> times_;
  std::vector<SlowElement> found_;
};

}  // namespace

Result<MetricAnswer> SummaryAdvice(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const FoundStrategy found, StrategyOf(call));
  SL_ASSIGN_OR_RETURN(const std::optional<int64_t> step, StepOf(call));
  SL_ASSIGN_OR_RETURN(const std::vector<RankLoad> loads, ReadRankLoads(call.job, step));
  MetricAnswer answer;
  answer.definition = "insight.summary_advice";
  answer.query = "SELECT * FROM step_traces";
  answer.tables.push_back(Differences(loads));
  SlowGroups slow(found.strategy, DomainTimes(call.job, step));
  if (!slow.Find()) {
    answer.warnings.push_back(Message{"warning.strategy_mismatch"});
  }
  TableRows rows("slow_groups",
                 {TextColumn("name"), TextColumn("parallel"), NumberColumn("Sync Time(ms)", 4),
                  NumberColumn("Ratio(%)", 2), TextColumn("ranks")});
  for (const SlowElement& element : slow.found()) {
    rows.Add(element.name, element.parallel, RoundTo(element.sync_ms, 4),
             RoundTo(100 * element.share, 2), fmt::format("{}", fmt::join(element.ranks, ",")));
  }
  answer.tables.push_back(rows.Take());
  // Our own findings: who is waited for, and why.
  cluster::Options options;
  options.step = step;
  SL_ASSIGN_OR_RETURN(const cluster::JobFindings found_in_job,
                      cluster::FindInJob(call.job.ranks, options));
  answer.tables.push_back(ClusterFindingTable(found_in_job.findings, found_in_job.step_ms));
  return answer;
}

}  // namespace steplens::analysis::viewer
