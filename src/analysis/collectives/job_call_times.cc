#include "analysis/collectives/job_call_times.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "analysis/communication/communication.h"

namespace steplens::analysis {
namespace {

using store::kNone;
using store::TraceStore;

// The rows of comm_times by operation. A name that returns in several steps is told by its start.
class ResultRows {
 public:
  explicit ResultRows(const TraceStore& store) : store_(store) {
    for (uint32_t i = 0; i < store.comm_times.size(); ++i) {
      if (std::isfinite(store.comm_times.transit_ms[i]))
        by_name_[static_cast<uint32_t>(store.comm_times.op_name[i])].push_back(i);
    }
  }

  std::optional<RecordedTimes> Find(uint32_t comm_op) const {
    const store::CommTimeTable& times = store_.comm_times;
    const auto rows = by_name_.find(static_cast<uint32_t>(store_.comm_ops.name[comm_op]));
    if (rows == by_name_.end()) return std::nullopt;
    const double begin_us = static_cast<double>(store_.comm_ops.begin_ns[comm_op]) / 1000;
    const auto distance_us = [&](uint32_t row) {
      const double us = std::fabs(times.start_us[row] - begin_us);
      return std::isfinite(us) ? us : 0;  // a result without a start belongs to its name
    };
    const uint32_t row =
        *std::min_element(rows->second.begin(), rows->second.end(),
                          [&](uint32_t a, uint32_t b) { return distance_us(a) < distance_us(b); });
    return RecordedTimes{SourceOfResults(store_), NsOfResult(times.transit_ms[row]),
                         NsOfResult(times.wait_ms[row]), NsOfResult(times.synchronization_ms[row])};
  }

 private:
  const TraceStore& store_;
  std::unordered_map<uint32_t, std::vector<uint32_t>> by_name_;  // StringId -> rows
};

}  // namespace

TimesSource SourceOfResults(const TraceStore& store) {
  return store::IsRaw(store.info.format) ? TimesSource::kTasks : TimesSource::kResults;
}

bool ResultsDivideCalls(const TraceStore& store) {
  const store::CommTimeTable& times = store.comm_times;
  for (size_t i = 0; i < times.size(); ++i) {
    if (store.Text(times.op_name[i]).starts_with("Total")) continue;
    if (!std::isfinite(times.transit_ms[i])) continue;
    const RecordedTimes recorded{SourceOfResults(store), NsOfResult(times.transit_ms[i]),
                                 NsOfResult(times.wait_ms[i]), 0};
    if (LeavesTime(recorded, NsOfResult(times.elapse_ms[i]))) return true;
  }
  return false;
}

std::vector<std::optional<RecordedTimes>> RecordedCalls(const TraceStore& store) {
  std::vector<std::optional<RecordedTimes>> out(store.comm_ops.size());
  if (store.comm_times.size() > 0) {
    if (!ResultsDivideCalls(store)) return out;
    const ResultRows results(store);
    for (uint32_t i = 0; i < out.size(); ++i) out[i] = results.Find(i);
    return out;
  }
  const std::vector<std::optional<OperationFacts>> by_tasks = TimesByTasks(store);
  bool is_divided = false;
  for (size_t i = 0; i < out.size(); ++i) {
    // Tasks of level 0 do not say what they move: without a transfer they do not divide the call.
    if (!by_tasks[i] || by_tasks[i]->transit_ms <= 0) continue;
    out[i] = {TimesSource::kTasks, NsOfResult(by_tasks[i]->transit_ms),
              NsOfResult(by_tasks[i]->wait_ms), NsOfResult(by_tasks[i]->synchronization_ms)};
    is_divided |= LeavesTime(*out[i], store.comm_ops.dur_ns[i]);
  }
  if (!is_divided) std::fill(out.begin(), out.end(), std::nullopt);
  return out;
}

JobCallTimes::JobCallTimes(const store::Job& job)
    : job_(job), book_(job), sizes_(job), recorded_(job.ranks.size()) {}

CallPeers JobCallTimes::PeersOf(uint32_t rank_index, uint32_t row) const {
  CallPeers peers;
  const CollectiveBook::Call* call = book_.Find(rank_index, row);
  if (call == nullptr) return peers;
  peers.captured = static_cast<int64_t>(call->parts.size());
  peers.shortest_ns = call->ShortestNs();
  peers.members = sizes_.Of(call->group);
  return peers;
}

CallTimes JobCallTimes::Of(uint32_t rank_index, uint32_t row) {
  auto& recorded = recorded_[rank_index];
  if (!recorded) recorded = RecordedCalls(job_.ranks[rank_index]);
  return DivideCall(job_.ranks[rank_index].comm_ops.dur_ns[row], (*recorded)[row],
                    PeersOf(rank_index, row));
}

}  // namespace steplens::analysis
