#include "analysis/collectives/comm_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "analysis/cells.h"
#include "analysis/cluster/group_name.h"
#include "analysis/cluster/rank_facts.h"
#include "analysis/collectives/job_call_times.h"
#include "analysis/steps/steps.h"
#include "base/number.h"

namespace steplens::analysis {
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
    CommTime& time = data.times.emplace_back();
    time.rank = rank.info.rank;
    time.step = step;
    time.op = part.Text(row.op);
    time.group = group;
    time.is_p2p = row.is_p2p;
    time.source = SourceOfResults(rank);
    time.start_us = row.start_us;
    time.elapse_ms = row.elapse_ms;
    time.transit_ms = row.transit_ms;
    time.wait_ms = row.wait_ms;
    time.synchronization_ms = row.synchronization_ms;
    time.idle_ms = row.elapse_ms - row.transit_ms - row.wait_ms;
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

void Take(const CallTimes& times, CommTime& row) {
  const auto ms = [](int64_t ns) { return ns == store::kNone ? kNoNumber : NsToMs(ns); };
  row.source = times.source;
  row.transit_ms = ms(times.transit_ns);
  row.wait_ms = ms(times.wait_ns);
  row.synchronization_ms = ms(times.synchronization_ns);
  row.idle_ms = ms(times.idle_ns);
}

void AddTimeline(const TraceStore& rank, uint32_t rank_index, JobCallTimes& calls,
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
    CommTime time{rank.info.rank, step, std::string(name), group, is_p2p};
    // A name without a running number (NCCL) stands for many calls: they are counted.
    if (!name.starts_with("hcom_")) time.op += fmt::format("#{}", ordinals[group + time.op]++);
    time.start_us = static_cast<double>(ops.begin_ns[row]) / 1000;
    time.elapse_ms = NsToMs(ops.dur_ns[row]);
    Take(calls.Of(rank_index, row), time);
    data.times.push_back(std::move(time));
    data.has_derived = true;
  }
}

// Who else took part in the calls of the rows; and what results of ranks that divide no call
// (`undivided`) leave to arrivals.
void CompareRanks(const GroupSizes& sizes, const std::set<int64_t>& undivided, CommData& data) {
  using Key = std::tuple<int64_t, std::string_view, std::string_view>;  // step, group, operator
  std::map<Key, CallPeers> calls;
  for (const CommTime& row : data.times) {
    if (row.is_p2p) continue;
    const int64_t elapse_ns = NsOfResult(row.elapse_ms);
    const auto [place, is_new] = calls.try_emplace({row.step, row.group, row.op});
    CallPeers& peers = place->second;
    peers.shortest_ns = is_new ? elapse_ns : std::min(peers.shortest_ns, elapse_ns);
    if (!is_new) ++peers.captured;
    peers.members = sizes.Of(row.group);
  }
  for (CommTime& row : data.times) {
    if (row.is_p2p) continue;
    row.peers = calls.at({row.step, row.group, row.op});
    data.has_unknown_size |= row.peers.members == 0;
    if (row.peers.is_partial() && (data.members == 0 || row.peers.captured < data.captured)) {
      data.captured = row.peers.captured;
      data.members = row.peers.members;
    }
    if (!undivided.contains(row.rank)) continue;
    Take(DivideCall(NsOfResult(row.elapse_ms), std::nullopt, row.peers), row);
  }
}

}  // namespace

int64_t StepNumber(std::string_view text) {
  if (text.starts_with("step")) text.remove_prefix(4);
  return ParseInt64(text).value_or(store::kNone);
}

CommData ReadCommData(const store::Job& job, const CommScope& scope) {
  CommData data;
  std::optional<JobCallTimes> calls;  // made for the first rank that needs it
  std::set<int64_t> undivided;        // ranks
  for (uint32_t r = 0; r < job.ranks.size(); ++r) {
    const TraceStore& rank = job.ranks[r];
    data.groups.Add(cluster::DescribeRank(rank), cluster::UsedGroups(rank));
    if (rank.comm_times.size() > 0) {
      AddResults(rank, scope, data);
      if (!ResultsDivideCalls(rank)) undivided.insert(rank.info.rank);
    } else if (rank.comm_ops.size() > 0) {
      if (!calls) calls.emplace(job);
      AddTimeline(rank, r, *calls, scope, data);
    }
  }
  CompareRanks(GroupSizes(job), undivided, data);
  return data;
}

std::vector<Message> CommWarnings(const CommData& data) {
  std::vector<Message> warnings;
  if (data.has_derived) warnings.push_back({"warning.derived_communication"});
  if (data.members > 0) {
    warnings.push_back(
        {"warning.partly_captured",
         {{"captured", std::to_string(data.captured)}, {"members", std::to_string(data.members)}}});
  } else if (data.has_unknown_size) {
    warnings.push_back({"warning.group_size_unknown"});
  }
  return warnings;
}

}  // namespace steplens::analysis
