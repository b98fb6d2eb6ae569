#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/classify/classify.h"
#include "analysis/time_math.h"
#include "analysis/viewer/cells.h"
#include "analysis/viewer/comm_data.h"
#include "analysis/viewer/cover.h"
#include "analysis/viewer/metrics.h"

// The Communication page: what to look at, by the rules of the reference viewer.

namespace steplens::analysis::viewer {
namespace {

using store::TraceStore;

constexpr double kContendedGbps = 14.4;
constexpr double kRetransmissionMs = 4000;
constexpr int64_t kAlignedBytes = 512;

// Bandwidth of each rank over each transport, and how ranks compare.
table::Table BandwidthTable(const CommData& data) {
  std::map<std::string, std::map<int64_t, std::pair<double, double>>> sums;  // size, time
  for (const CommTraffic& row : data.traffic) {
    auto& [size_mb, time_ms] = sums[row.transport][row.rank];
    size_mb += row.size_mb;
    time_ms += row.time_ms;
  }
  TableRows rows("bandwidth",
                 {TextColumn("Transport Type"), NumberColumn("Max(GB/s)", 4),
                  NumberColumn("Min(GB/s)", 4), NumberColumn("Avg(GB/s)", 4),
                  NumberColumn("Difference(GB/s)", 4), NumberColumn("Total Time(ms)", 4)});
  for (const auto& [transport, ranks] : sums) {
    double highest = 0;
    double lowest = 0;
    double sum = 0;
    double time_ms = 0;
    size_t count = 0;
    for (const auto& [rank, size_and_time] : ranks) {
      if (size_and_time.second <= 0) continue;
      const double gbps = size_and_time.first / size_and_time.second;
      highest = count == 0 ? gbps : std::max(highest, gbps);
      lowest = count == 0 ? gbps : std::min(lowest, gbps);
      sum += gbps;
      time_ms += size_and_time.second;
      ++count;
    }
    if (count == 0) continue;
    rows.Add(transport, RoundTo(highest, 4), RoundTo(lowest, 4),
             RoundTo(sum / static_cast<double>(count), 4), RoundTo(highest - lowest, 4),
             RoundTo(time_ms, 4));
  }
  return rows.Take();
}

table::Table PacketTable(const CommData& data) {
  TableRows rows("packet", {TextColumn("Transport Type"), NumberColumn("Small Packet(%)", 2),
                            NumberColumn("Small Packet Time(ms)", 4), IntColumn("Rows"),
                            TextColumn("Result")});
  for (const auto& [transport, small_mb] : {std::pair("SDMA", 16.0), {"RDMA", 1.0}}) {
    size_t all = 0;
    size_t small = 0;
    double small_ms = 0;
    for (const CommTraffic& row : data.traffic) {
      if (row.transport != transport || row.size_mb <= 0) continue;
      ++all;
      if (row.size_mb >= small_mb) continue;
      ++small;
      small_ms += row.time_ms;
    }
    if (all == 0) continue;
    const double share = 100 * static_cast<double>(small) / static_cast<double>(all);
    rows.Add(transport, RoundTo(share, 2), RoundTo(small_ms, 4), all, share > 20 ? "Issue" : "OK");
  }
  return rows.Take();
}

// The collective of a task: as recorded, else the one of its group that runs when the task starts.
class TaskOwners {
 public:
  explicit TaskOwners(const TraceStore& rank) : rank_(rank) {
    for (uint32_t i = 0; i < rank.comm_ops.size(); ++i) {
      by_group_[rank.comm_ops.group_name[i]].emplace(rank.comm_ops.begin_ns[i], i);
    }
  }
  std::string_view Of(size_t task) const {
    const std::string_view named = rank_.Text(rank_.comm_tasks.op_name[task]);
    if (!named.empty()) return named;
    const auto group = by_group_.find(rank_.comm_tasks.group_name[task]);
    if (group == by_group_.end()) return {};
    const int64_t ts_ns = rank_.comm_tasks.begin_ns[task];
    auto after = group->second.upper_bound(ts_ns);
    if (after == group->second.begin()) return {};
    const uint32_t op = std::prev(after)->second;
    const int64_t end_ns = EndNs(rank_.comm_ops.begin_ns[op], rank_.comm_ops.dur_ns[op]);
    return ts_ns <= end_ns ? rank_.Text(rank_.comm_ops.name[op]) : std::string_view();
  }

 private:
  const TraceStore& rank_;  // outlives this
  std::map<StringId, std::multimap<int64_t, uint32_t>> by_group_;
};

bool IsUnaligned(const TraceStore& rank, size_t task) {
  const store::CommTaskTable& tasks = rank.comm_tasks;
  const std::string_view name = rank.Text(tasks.name[task]);
  if (!ContainsInAnyCase(name, "memcpy") && !ContainsInAnyCase(name, "reduce")) return false;
  if (rank.Text(tasks.transport[task]) != "SDMA") return false;
  if (rank.Text(tasks.link[task]) == "ON_CHIP") return false;
  const int64_t bytes = tasks.size_bytes[task];
  return bytes > kAlignedBytes && bytes % kAlignedBytes != 0;
}

table::Table AlignmentTable(const store::Job& job) {
  TableRows rows("byte_alignment", {IntColumn("rank"), TextColumn("operator"), IntColumn("tasks"),
                                    IntColumn("Size(B)")});
  for (const TraceStore& rank : job.ranks) {
    std::map<std::string_view, std::pair<int64_t, int64_t>> found;  // tasks, an example's size
    const TaskOwners owners(rank);
    for (size_t i = 0; i < rank.comm_tasks.size(); ++i) {
      if (!IsUnaligned(rank, i)) continue;
      auto& [count, bytes] = found[owners.Of(i)];
      if (count++ == 0) bytes = rank.comm_tasks.size_bytes[i];
    }
    for (const auto& [op, use] : found) rows.Add(rank.info.rank, op, use.first, use.second);
  }
  return rows.Take();
}

Cover MatmulsOf(const TraceStore& rank) {
  std::vector<Interval> times;
  const store::KernelTable& kernels = rank.kernels;
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (kernels.begin_ns[i] == store::kNone || kernels.dur_ns[i] == store::kNone) continue;
    if (!ContainsInAnyCase(rank.Text(kernels.type[i]), "matmul")) continue;
    times.push_back({kernels.begin_ns[i], EndNs(kernels.begin_ns[i], kernels.dur_ns[i])});
  }
  return Cover(std::move(times));
}

table::Table ContentionTable(const store::Job& job, const CommData& data) {
  std::map<int64_t, std::map<std::string_view, double>> slow;  // rank -> operator -> bandwidth
  for (const CommTraffic& row : data.traffic) {
    if (row.transport != "SDMA" || row.bandwidth_gbps <= 0) continue;
    if (row.bandwidth_gbps < kContendedGbps) slow[row.rank][row.op] = row.bandwidth_gbps;
  }
  TableRows rows("contention", {IntColumn("rank"), TextColumn("operator"),
                                NumberColumn("Bandwidth(GB/s)", 4), TimeColumn("overlap_us")});
  for (const TraceStore& rank : job.ranks) {
    const auto of_rank = slow.find(rank.info.rank);
    if (of_rank == slow.end()) continue;
    const Cover matmuls = MatmulsOf(rank);
    for (size_t i = 0; i < rank.comm_ops.size(); ++i) {
      const auto op = of_rank->second.find(rank.Text(rank.comm_ops.name[i]));
      if (op == of_rank->second.end()) continue;
      const int64_t begin_ns = rank.comm_ops.begin_ns[i];
      const int64_t shared_ns =
          matmuls.Within({begin_ns, EndNs(begin_ns, rank.comm_ops.dur_ns[i])});
      if (shared_ns > 0) rows.Add(rank.info.rank, op->first, RoundTo(op->second, 4), shared_ns);
    }
  }
  return rows.Take();
}

table::Table RetransmissionTable(const CommData& data) {
  using Key = std::pair<std::string_view, std::string_view>;  // group, operator
  std::map<Key, double> least_elapse_ms;
  for (const CommTime& row : data.times) {
    const auto [place, is_new] = least_elapse_ms.try_emplace({row.group, row.op}, row.elapse_ms);
    place->second = std::min(place->second, row.elapse_ms);
  }
  std::map<Key, double> rdma_ms;
  for (const CommTraffic& row : data.traffic) {
    if (row.transport != "RDMA") continue;
    double& longest_ms = rdma_ms[{row.group, row.op}];
    longest_ms = std::max(longest_ms, row.time_ms);
  }
  TableRows rows("retransmission",
                 {TextColumn("group"), TextColumn("operator"), NumberColumn("Min Elapse(ms)", 4),
                  NumberColumn("Max RDMA Transit(ms)", 4)});
  for (const auto& [key, elapse_ms] : least_elapse_ms) {
    const auto transit = rdma_ms.find(key);
    if (elapse_ms < kRetransmissionMs || transit == rdma_ms.end()) continue;
    if (transit->second <= kRetransmissionMs) continue;
    rows.Add(key.first, key.second, RoundTo(elapse_ms, 4), RoundTo(transit->second, 4));
  }
  return rows.Take();
}

}  // namespace

Result<MetricAnswer> CommAdvice(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const CommScope scope, CommScopeOf(call));
  const CommData data = ReadCommData(call.job, scope);
  MetricAnswer answer;
  answer.definition = "insight.communication_advice";
  answer.query = "SELECT * FROM comm_bandwidths";
  answer.tables.push_back(BandwidthTable(data));
  answer.tables.push_back(PacketTable(data));
  answer.tables.push_back(AlignmentTable(call.job));
  answer.tables.push_back(ContentionTable(call.job, data));
  answer.tables.push_back(RetransmissionTable(data));
  if (data.traffic.empty()) {
    answer.warnings.push_back("no rank has bandwidths (communication.json, level 1)");
  }
  return answer;
}

}  // namespace steplens::analysis::viewer
