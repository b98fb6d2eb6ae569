#include <algorithm>
#include <map>
#include <vector>

#include "analysis/cells.h"
#include "analysis/collectives/comm_data.h"
#include "analysis/viewer/metrics.h"

// The Communication page: ranks that the others wait for.

namespace steplens::analysis::viewer {
namespace {

bool IsLeftOut(std::string_view op) {
  for (const char* word : {"send", "recv", "receive", "all2allv", "alltoallv"}) {
    if (ContainsInAnyCase(op, word)) return true;
  }
  return false;
}

struct RankTotal {
  double elapse_ms = 0;
  std::map<std::string_view, double> by_op;
};

void AppendRank(const std::string& group, int64_t fast_rank, const RankTotal& fast,
                int64_t slow_rank, const RankTotal& slow, TableRows& rows) {
  std::vector<std::pair<std::string_view, double>> ops;  // by how much longer the other one took
  for (const auto& [op, fast_ms] : fast.by_op) {
    const auto own = slow.by_op.find(op);
    if (own != slow.by_op.end()) ops.emplace_back(op, fast_ms - own->second);
  }
  std::stable_sort(ops.begin(), ops.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (ops.size() > 3) ops.resize(3);
  for (const auto& [op, difference_ms] : ops) {
    rows.Add(group, slow_rank, fast_rank, RoundTo(slow.elapse_ms, 3), RoundTo(fast.elapse_ms, 3),
             RoundTo(fast.elapse_ms - slow.elapse_ms, 3), op, RoundTo(slow.by_op.at(op), 3),
             RoundTo(fast.by_op.at(op), 3), RoundTo(difference_ms, 3));
  }
}

// Who stayed longest in the collectives of a group came first: it is the fastest. Up to three ranks
// that stayed at least a tenth less are slow.
void AppendGroup(const std::string& group, const std::map<int64_t, RankTotal>& ranks,
                 TableRows& rows) {
  std::vector<const std::pair<const int64_t, RankTotal>*> sorted;
  for (const auto& entry : ranks) sorted.push_back(&entry);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    return a->second.elapse_ms < b->second.elapse_ms;
  });
  for (size_t i = 0; i + 1 < sorted.size() && i < 3; ++i) {
    const RankTotal& fast = sorted.back()->second;
    const RankTotal& slow = sorted[i]->second;
    if (fast.elapse_ms - slow.elapse_ms < 0.1 * fast.elapse_ms) break;
    AppendRank(group, sorted.back()->first, fast, sorted[i]->first, slow, rows);
  }
}

}  // namespace

Result<MetricAnswer> CommSlowRanks(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const CommScope scope, CommScopeOf(call));
  const CommData data = ReadCommData(call.job, scope);
  MetricAnswer answer;
  answer.definition = "insight.communication_slow_ranks";
  answer.query = "SELECT rank, sum(elapse_ms) FROM comm_times GROUP BY rank";
  TableRows rows(
      "slow_ranks",
      {TextColumn("Group"), IntColumn("Slow Rank"), IntColumn("Fastest Rank"),
       NumberColumn("Elapse(ms)", 3), NumberColumn("Fastest Elapse(ms)", 3),
       NumberColumn("Difference(ms)", 3), TextColumn("Operator"),
       NumberColumn("Operator Elapse(ms)", 3), NumberColumn("Operator Fastest Elapse(ms)", 3),
       NumberColumn("Operator Difference(ms)", 3)});
  std::map<std::string, std::map<int64_t, RankTotal>> groups;
  for (const CommTime& row : data.times) {
    const cluster::GroupFact* fact = data.groups.FindFact(row.group);
    const bool is_pipeline = fact != nullptr && StartsInAnyCase(fact->pg_name, "pp");
    if (row.is_p2p || is_pipeline || IsLeftOut(row.op)) continue;
    if (row.peers.is_partial()) continue;  // who was not captured may be slower
    RankTotal& total = groups[row.group][row.rank];
    total.elapse_ms += row.elapse_ms;
    total.by_op[row.op] += row.elapse_ms;
  }
  for (const auto& [group, ranks] : groups) AppendGroup(group, ranks, rows);
  answer.warnings = CommWarnings(data);
  answer.tables.push_back(rows.Take());
  return answer;
}

}  // namespace steplens::analysis::viewer
