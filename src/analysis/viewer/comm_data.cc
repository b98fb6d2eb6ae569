#include "analysis/viewer/comm_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "analysis/cluster/group_name.h"
#include "analysis/cluster/rank_facts.h"
#include "analysis/steps/steps.h"
#include "analysis/viewer/cells.h"
#include "analysis/viewer/collectives.h"
#include "base/number.h"

namespace steplens::analysis::viewer {
namespace {

using store::TraceStore;

bool IsWanted(const CommScope& scope, int64_t step, std::string_view group, bool is_p2p) {
  return (!scope.step || step == *scope.step) && scope.HasGroup(group, is_p2p);
}

void AddResults(const TraceStore& rank, const CommScope& scope, CommData& data) {
  const cluster::CommunicationPart part = cluster::ReadCommunication(rank, {});
  for (const cluster::CommTimeRow& row : part.times) {
    const int64_t step = StepNumber(part.Text(row.step));
    const std::string group = cluster::GroupName(part.Text(row.group));
    if (!IsWanted(scope, step, group, row.is_p2p)) continue;
    data.times.push_back({rank.info.rank, step, part.Text(row.op), group, row.is_p2p, false,
                          row.start_us, row.elapse_ms, row.transit_ms, row.wait_ms,
                          row.synchronization_ms});
  }
  for (const cluster::CommBandwidthRow& row : part.bandwidths) {
    const int64_t step = StepNumber(part.Text(row.step));
    const std::string group = cluster::GroupName(part.Text(row.group));
    if (!IsWanted(scope, step, group, row.is_p2p)) continue;
    data.traffic.push_back({rank.info.rank, step, part.Text(row.op), group, row.is_p2p,
                            part.Text(row.transport), row.size_mb, row.time_ms, row.bandwidth_gbps,
                            row.large_packet_ratio, row.packets});
  }
}

void AddTimeline(const TraceStore& rank, uint32_t rank_index, const CollectiveBook& book,
                 const CommScope& scope, CommData& data) {
  const store::CommOpTable& ops = rank.comm_ops;
  const GroupNames groups(rank);
  const std::vector<StepRange> steps = ComputeStepRanges(rank);
  StepFinder finder(steps);
  std::map<std::string, int64_t> ordinals;
  for (uint32_t row = 0; row < ops.size(); ++row) {
    const auto found = finder.Find(ops.begin_ns[row]);
    const int64_t step = found ? steps[*found].step : store::kNone;
    const std::string_view name = rank.Text(ops.name[row]);
    const bool is_p2p = cluster::IsP2pName(name);
    const std::string group = groups.Of(row);
    if (!IsWanted(scope, step, group, is_p2p)) continue;
    CommTime time{rank.info.rank, step, std::string(name), group, is_p2p, true};
    // A name without a running number (NCCL) stands for many calls: they are counted.
    if (!name.starts_with("hcom_")) time.op += fmt::format("#{}", ordinals[group + time.op]++);
    time.transit_ms = time.wait_ms = time.synchronization_ms = kNoNumber;
    time.start_us = static_cast<double>(ops.begin_ns[row]) / 1000;
    time.elapse_ms = NsToMs(ops.dur_ns[row]);
    const CollectiveBook::Call* call = book.Find(rank_index, row);
    if (call != nullptr && call->parts.size() > 1) {
      time.transit_ms = NsToMs(std::min(call->ShortestNs(), ops.dur_ns[row]));
      time.wait_ms = time.synchronization_ms = time.elapse_ms - time.transit_ms;
    }
    data.times.push_back(std::move(time));
    data.has_derived = true;
  }
}

}  // namespace

int64_t StepNumber(std::string_view text) {
  if (text.starts_with("step")) text.remove_prefix(4);
  return ParseInt64(text).value_or(store::kNone);
}

Result<CommScope> CommScopeOf(const MetricCall& call) {
  CommScope scope;
  SL_ASSIGN_OR_RETURN(scope.step, StepOf(call));
  SL_ASSIGN_OR_RETURN(scope.group, call.args.TextOr("group", ""));
  SL_ASSIGN_OR_RETURN(scope.op, call.args.TextOr("operator", kTotalOp));
  if (scope.op.empty()) scope.op = kTotalOp;
  if (!scope.group.empty() && scope.group != "p2p") scope.group = cluster::GroupName(scope.group);
  return scope;
}

CommData ReadCommData(const store::Job& job, const CommScope& scope) {
  CommData data;
  std::unique_ptr<CollectiveBook> book;  // made for the first rank that needs it
  for (uint32_t r = 0; r < job.ranks.size(); ++r) {
    const TraceStore& rank = job.ranks[r];
    data.groups.Add(cluster::DescribeRank(rank), cluster::UsedGroups(rank));
    if (rank.comm_times.size() > 0) {
      AddResults(rank, scope, data);
    } else if (rank.comm_ops.size() > 0) {
      if (!book) book = std::make_unique<CollectiveBook>(job);
      AddTimeline(rank, r, *book, scope, data);
    }
  }
  return data;
}

std::string DerivedWarning() {
  return "ranks without communication results (level 1 brings them) are shown from the timeline: "
         "transit is the shortest part of a call, wait what a rank took longer";
}

}  // namespace steplens::analysis::viewer
