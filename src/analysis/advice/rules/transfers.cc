#include "analysis/advice/rules/transfers.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>

#include "analysis/any_case.h"
#include "analysis/overlap/cover.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

using store::TraceStore;

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

// A transfer by SDMA between chips of more than the least size.
bool IsLongTransfer(const TraceStore& rank, size_t task, int64_t least_bytes) {
  const store::CommTaskTable& tasks = rank.comm_tasks;
  const std::string_view name = rank.Text(tasks.name[task]);
  if (!ContainsInAnyCase(name, "memcpy") && !ContainsInAnyCase(name, "reduce")) return false;
  if (rank.Text(tasks.transport[task]) != "SDMA") return false;
  return rank.Text(tasks.link[task]) != "ON_CHIP" && tasks.size_bytes[task] > least_bytes;
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

}  // namespace

std::vector<UnalignedTransfer> ListUnalignedTransfers(const TraceStore& store,
                                                      int64_t aligned_bytes) {
  std::map<std::string_view, UnalignedTransfer> found;
  const TaskOwners owners(store);
  const store::CommTaskTable& tasks = store.comm_tasks;
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (!IsLongTransfer(store, i, aligned_bytes)) continue;
    const std::string_view op = owners.Of(i);
    UnalignedTransfer& transfer = found[op];
    transfer.all_bytes = AddNs(transfer.all_bytes, tasks.size_bytes[i].value());
    transfer.all_ns = AddNs(transfer.all_ns, tasks.dur_ns[i]);
    if (tasks.size_bytes[i].value() % aligned_bytes == 0) continue;
    transfer.unaligned_ns = AddNs(transfer.unaligned_ns, tasks.dur_ns[i]);
    if (transfer.tasks++ > 0) continue;
    transfer.op = op;
    transfer.bytes = tasks.size_bytes[i];
    transfer.begin_ns = tasks.begin_ns[i];
    transfer.dur_ns = tasks.dur_ns[i];
  }
  std::vector<UnalignedTransfer> out;
  for (auto& [op, transfer] : found) {
    if (transfer.tasks > 0) out.push_back(std::move(transfer));
  }
  return out;
}

std::vector<ContendedTransfer> ListContendedTransfers(const TraceStore& store, const CommData& data,
                                                      double gbps) {
  using Call = std::tuple<int64_t, std::string_view, std::string_view>;  // step, group, operator
  std::map<Call, double> slow;                                           // -> bandwidth
  for (const CommTraffic& row : data.traffic) {
    if (row.rank != store.info.rank || row.transport != "SDMA" || row.bandwidth_gbps <= 0) continue;
    if (row.bandwidth_gbps < gbps) slow[{row.step, row.group, row.op}] = row.bandwidth_gbps;
  }
  std::vector<ContendedTransfer> out;
  if (slow.empty()) return out;
  const Cover matmuls = MatmulsOf(store);
  for (const CommTime& call : data.times) {
    const auto found = slow.find({call.step, call.group, call.op});
    if (call.rank != store.info.rank || found == slow.end()) continue;
    constexpr double kMostUs = 4e15;
    if (!(std::fabs(call.start_us) < kMostUs && std::fabs(call.elapse_ms) * 1000 < kMostUs))
      continue;
    const auto begin_ns = static_cast<int64_t>(call.start_us * 1000);
    const Interval times{begin_ns, EndNs(begin_ns, static_cast<int64_t>(call.elapse_ms * 1e6))};
    const int64_t shared_ns = matmuls.Within(times);
    if (shared_ns > 0) out.push_back({call.op, found->second, shared_ns, times, call.elapse_ms});
  }
  return out;
}

std::vector<Retransmission> ListRetransmissions(const CommData& data, double retried_ms) {
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
  std::vector<Retransmission> out;
  for (const auto& [key, elapse_ms] : least_elapse_ms) {
    const auto transit = rdma_ms.find(key);
    if (elapse_ms < retried_ms || transit == rdma_ms.end()) continue;
    if (transit->second <= retried_ms) continue;
    out.push_back({std::string(key.first), std::string(key.second), elapse_ms, transit->second});
  }
  return out;
}

}  // namespace steplens::analysis
