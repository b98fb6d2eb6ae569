#include "analysis/viewer/rank_loads.h"

#include <algorithm>
#include <cmath>

#include "analysis/cluster/rank_facts.h"
#include "analysis/viewer/comm_data.h"
#include "analysis/viewer/recipe_tables.h"
#include "base/number.h"

namespace steplens::analysis::viewer {
namespace {

double Known(const table::Table& table, std::string_view column, size_t row) {
  const double value = NumberCell(table, column, row);
  return std::isnan(value) ? 0 : value;
}

// From the first rank that says how the job is laid out.
bool ReadLayout(const store::Job& job, Strategy& strategy, std::string& problem) {
  for (const store::TraceStore& rank : job.ranks) {
    const std::string args = cluster::DescribeRank(rank).distributed_args;
    if (args.empty()) continue;
    const auto layout = cluster::ParseLayout(args, problem);
    if (!layout) return false;
    strategy.tp = layout->tp;
    strategy.cp = layout->cp;
    strategy.dp = layout->dp;
    strategy.pp = layout->pp;
    strategy.ep = layout->ep;
    if (strategy.dp % strategy.ep != 0) strategy.algorithm = "mindspeed(tp-cp-ep-dp-pp)";
    return true;
  }
  return false;
}

// One more than the highest rank: what a strategy has to hold.
int64_t RankCount(const store::Job& job) {
  int64_t count = 0;
  for (const store::TraceStore& rank : job.ranks) count = std::max(count, rank.info.rank + 1);
  return count;
}

}  // namespace

Result<std::vector<RankLoad>> ReadRankLoads(const store::Job& job, std::optional<int64_t> step) {
  cluster::Options options;
  options.step = step;
  SL_ASSIGN_OR_RETURN(const cluster::Answer answer, AskRecipe("step_trace", options, job));
  std::map<int64_t, RankLoad> loads;
  const table::Table* table = FindTable(answer, "ClusterStepTraceTime");
  for (size_t row = 0; table != nullptr && row < table->rows(); ++row) {
    const auto rank = ParseInt64(TextCell(*table, "index", row));
    if (TextCell(*table, "type", row) != "rank" || !rank) continue;
    RankLoad& load = loads[*rank];
    load.rank = *rank;
    load.computing_us += Known(*table, "computing", row);
    load.communication_us += Known(*table, "communication", row);
    load.not_overlapped_us += Known(*table, "communication_not_overlapped", row);
    load.overlapped_us += Known(*table, "overlapped", row);
    load.free_us += Known(*table, "free", row);
    load.preparing_us += std::max(0.0, Known(*table, "preparing", row));
    load.stage_us += Known(*table, "stage", row);
    load.bubble_us += Known(*table, "bubble", row);
    load.exclude_receive_us +=
        Known(*table, "communication_not_overlapped_and_exclude_receive", row);
  }
  std::vector<RankLoad> out;
  for (const auto& [rank, load] : loads) out.push_back(load);
  return out;
}

std::map<int64_t, std::map<std::string, double>> DomainTimes(const store::Job& job,
                                                             std::optional<int64_t> step) {
  CommScope scope;
  scope.step = step;
  const CommData data = ReadCommData(job, scope);
  std::map<int64_t, std::map<std::string, double>> times;
  for (const CommTime& row : data.times) {
    const cluster::GroupFact* fact = data.groups.FindFact(row.group);
    if (fact == nullptr || fact->pg_name.empty()) continue;
    times[row.rank][fact->pg_name] += row.elapse_ms;
  }
  return times;
}

Result<FoundStrategy> StrategyOf(const MetricCall& call) {
  FoundStrategy found;
  Strategy& strategy = found.strategy;
  const int64_t ranks = RankCount(call.job);
  strategy.dp = std::max<int64_t>(1, ranks);
  found.is_from_data = ReadLayout(call.job, strategy, found.problem);
  SL_ASSIGN_OR_RETURN(strategy.algorithm, call.args.TextOr("algorithm", strategy.algorithm));
  const bool is_given = call.args.Has("pp") || call.args.Has("tp") || call.args.Has("cp") ||
                        call.args.Has("dp") || call.args.Has("ep") || call.args.Has("moe_tp");
  if (is_given) strategy = Strategy{strategy.algorithm};
  SL_ASSIGN_OR_RETURN(strategy.pp, call.args.IntOr("pp", strategy.pp));
  SL_ASSIGN_OR_RETURN(strategy.tp, call.args.IntOr("tp", strategy.tp));
  SL_ASSIGN_OR_RETURN(strategy.cp, call.args.IntOr("cp", strategy.cp));
  SL_ASSIGN_OR_RETURN(strategy.dp, call.args.IntOr("dp", strategy.dp));
  SL_ASSIGN_OR_RETURN(strategy.ep, call.args.IntOr("ep", strategy.ep));
  SL_ASSIGN_OR_RETURN(strategy.moe_tp, call.args.IntOr("moe_tp", strategy.moe_tp));
  SL_RETURN_IF_ERROR(CheckStrategy(strategy, ranks));
  if (is_given) found.is_from_data = false;
  return found;
}

}  // namespace steplens::analysis::viewer
