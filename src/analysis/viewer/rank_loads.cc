#include "analysis/viewer/rank_loads.h"

#include <algorithm>
#include <cmath>

#include "analysis/breakdown/step_table.h"
#include "analysis/cluster/rank_facts.h"
#include "analysis/collectives/comm_data.h"

namespace steplens::analysis::viewer {
namespace {

double Known(double us) { return std::isnan(us) ? 0 : us; }

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
  std::map<int64_t, RankLoad> loads;
  for (const store::TraceStore& rank : job.ranks) {
    SL_RETURN_IF_ERROR(StillWanted());
    for (const StepRow& times : ReadStepTable(RankView(rank))) {
      if (step && times.step != *step) continue;
      RankLoad& load = loads[rank.info.rank];
      load.rank = rank.info.rank;
      load.computing_us += Known(times.computing_us);
      load.communication_us += Known(times.communication_us);
      load.not_overlapped_us += Known(times.comm_not_overlapped_us);
      load.overlapped_us += Known(times.overlapped_us);
      load.free_us += Known(times.free_us);
      load.preparing_us += std::max(0.0, Known(times.preparing_us));
      load.stage_us += Known(times.stage_us);
      load.bubble_us += Known(times.bubble_us);
      load.exclude_receive_us += Known(times.comm_exclude_receive_us);
    }
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
