#include "analysis/viewer/scope.h"

#include <fmt/format.h>

#include "analysis/cluster/group_name.h"
#include "analysis/time_math.h"

namespace steplens::analysis::viewer {
Result<const store::TraceStore*> RankOf(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const std::optional<int64_t> wanted, call.args.Int("rank"));
  for (const store::TraceStore& store : call.job.ranks) {
    if (!wanted || store.info.rank == *wanted) return &store;
  }
  if (!wanted) return Error{ErrorCode::kNotFound, "no rank has been read"};
  return Error{ErrorCode::kNotFound, fmt::format("there is no rank {}", *wanted)};
}

Result<int64_t> OriginOf(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const std::optional<int64_t> given, call.args.Int("origin_ns"));
  if (given && !IsPlausible(*given, *given)) {
    return Error{ErrorCode::kInvalidArgument, "argument 'origin_ns' is not a time"};
  }
  return given ? *given : OriginNs(call.job);
}

Result<TimeRange> RangeOf(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const std::optional<int64_t> t0_ns, call.args.Int("t0"));
  SL_ASSIGN_OR_RETURN(const std::optional<int64_t> t1_ns, call.args.Int("t1"));
  TimeRange range;
  if (!t0_ns && !t1_ns) return range;
  SL_ASSIGN_OR_RETURN(const int64_t origin_ns, OriginOf(call));
  if (t0_ns) range.begin_ns = AddNs(origin_ns, *t0_ns);
  if (t1_ns) range.end_ns = AddNs(origin_ns, *t1_ns);
  if (range.begin_ns > range.end_ns) {
    return Error{ErrorCode::kInvalidArgument, "argument 't0' is after 't1'"};
  }
  return range;
}

Result<std::optional<int64_t>> StepOf(const MetricCall& call) { return call.args.Step(); }

Result<CommScope> CommScopeOf(const MetricCall& call) {
  CommScope scope;
  SL_ASSIGN_OR_RETURN(scope.step, StepOf(call));
  SL_ASSIGN_OR_RETURN(scope.group, call.args.TextOr("group", ""));
  SL_ASSIGN_OR_RETURN(scope.op, call.args.TextOr("operator", kTotalOp));
  if (scope.op.empty()) scope.op = kTotalOp;
  if (!scope.group.empty() && scope.group != "p2p") scope.group = cluster::GroupName(scope.group);
  return scope;
}

}  // namespace steplens::analysis::viewer
