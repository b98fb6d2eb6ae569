#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/collectives/job_call_times.h"
#include "analysis/explain/explain.h"
#include "analysis/explain/explain_common.h"
#include "analysis/overlap/cover.h"
#include "analysis/overlap/overlap_lanes.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

using store::SliceId;
using store::TraceStore;

// The slice that shows a communication operator; kNoSlice if the timeline has none.
SliceId SliceOf(const TraceStore& store, uint32_t comm_op) {
  for (size_t i = 0; i < store.slices.size(); ++i) {
    if (store.slices.begin_ns[i] == store.comm_ops.begin_ns[comm_op] &&
        store.slices.name[i] == store.comm_ops.name[comm_op]) {
      return static_cast<SliceId>(i);
    }
  }
  return store::kNoSlice;
}

// What the last rank did while the others waited for it.
void AddLastRank(const store::Job& job, const CollectivePart& last, int64_t skew_ns,
                 int64_t whole_ns, std::vector<Evidence>& items) {
  const TraceStore& store = job.ranks[last.rank_index];
  const Interval window{AddNs(last.begin_ns, -skew_ns), last.begin_ns};
  int64_t computing_ns = 0;
  int64_t communication_ns = 0;
  int64_t free_ns = 0;
  for (const OverlapLanes& lanes : ComputeOverlapLanes(store)) {
    computing_ns += Cover(lanes.computing).Within(window);
    communication_ns += Cover(lanes.not_overlapped).Within(window);
    free_ns += Cover(lanes.free).Within(window);
  }
  const std::string rank = std::to_string(store.info.rank);
  const std::pair<const char*, int64_t> parts[] = {{"wait.last_computed", computing_ns},
                                                   {"wait.last_communicated", communication_ns},
                                                   {"wait.last_idle", free_ns}};
  for (const auto& [key, ns] : parts) {
    if (ns <= 0) continue;
    Evidence item =
        MakeEvidence(Message{key, {{"rank", rank}, {"time", TimeText(ns)}}}, ns, whole_ns);
    item.range = window;
    item.slice = SliceRef{last.rank_index, SliceOf(store, last.row)};
    items.push_back(std::move(item));
  }
}

// What a link of the kind gives at its best, in GB/s; 0 if not known.
double ExpectedGbps(std::string_view transport) {
  if (transport == "RDMA") return 12.5;
  if (transport == "HCCS") return 18;
  if (transport == "PCIE") return 20;
  return 0;
}

void AddBandwidth(const TraceStore& store, StringId op, std::vector<Evidence>& items) {
  const store::CommBandwidthTable& rows = store.comm_bandwidths;
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string transport(store.Text(rows.transport[i]));
    const double expected_gbps = ExpectedGbps(transport);
    if (rows.op_name[i] != op || !(rows.bandwidth_gbps[i] > 0) || expected_gbps == 0) continue;
    constexpr double kMostMs = 1e12;
    const bool is_known = std::fabs(rows.transit_ms[i]) < kMostMs;
    const int64_t ns = is_known ? static_cast<int64_t>(rows.transit_ms[i] * 1e6) : 0;
    Evidence item = MakeEvidence(Message{"wait.bandwidth",
                                         {{"transport", transport},
                                          {"gbps", fmt::format("{:.2f}", rows.bandwidth_gbps[i])},
                                          {"expected", fmt::format("{:.1f}", expected_gbps)}}},
                                 ns, 0);
    item.share = rows.bandwidth_gbps[i] / expected_gbps;
    items.push_back(std::move(item));
  }
}

// What the division rests on.
Message SourceWords(TimesSource source) {
  switch (source) {
    case TimesSource::kResults:
      return Message{"wait.source_results"};
    case TimesSource::kTasks:
      return Message{"wait.source_tasks"};
    case TimesSource::kArrivals:
      return Message{"wait.source_arrivals"};
    case TimesSource::kUnknown:
      break;
  }
  return Message{"wait.alone"};
}

// How a call divides, and who held it up.
class WaitExplainer {
 public:
  WaitExplainer(const store::Job& job, uint32_t rank_index, uint32_t comm_op)
      : job_(job), rank_index_(rank_index), calls_(job) {
    times_ = calls_.Of(rank_index, comm_op);
    peers_ = calls_.PeersOf(rank_index, comm_op);
    const CollectiveBook::Call* call = calls_.book().Find(rank_index, comm_op);
    if (call == nullptr || call->parts.size() < 2 || peers_.is_partial()) return;
    // Who stayed shortest came last.
    last_ = &*std::min_element(
        call->parts.begin(), call->parts.end(),
        [](const CollectivePart& a, const CollectivePart& b) { return a.dur_ns < b.dur_ns; });
    skew_ns_ = std::max<int64_t>(0, times_.elapse_ns - last_->dur_ns);
  }

  Explanation Explain(std::string_view name) {
    out_.title =
        Message{"wait.title", {{"name", std::string(name)}, {"time", TimeText(times_.elapse_ns)}}};
    if (times_.source == TimesSource::kUnknown) {
      Add(SourceWords(times_.source), times_.elapse_ns);
      out_.verdict = out_.items.front().wording;
    } else {
      AddParts();
      Judge();
      Add(SourceWords(times_.source), 0);
    }
    AddCoverage();
    if (last_ != nullptr && skew_ns_ > 0 && last_->rank_index != rank_index_) {
      if (times_.source != TimesSource::kArrivals) AddSkew();
      AddLastRank(job_, *last_, skew_ns_, times_.elapse_ns, out_.items);
    }
    return std::move(out_);
  }

 private:
  void Add(Message wording, int64_t ns) {
    out_.items.push_back(MakeEvidence(std::move(wording), ns, times_.elapse_ns));
  }

  // The captured rank that came last, and its part in the call.
  void AddSkew() {
    const TraceStore& store = job_.ranks[last_->rank_index];
    const std::string rank = std::to_string(store.info.rank);
    Add(peers_.members > 0 ? Message{"wait.skew", {{"time", TimeText(skew_ns_)}, {"rank", rank}}}
                           : Message{"wait.skew_of_captured",
                                     {{"time", TimeText(skew_ns_)},
                                      {"rank", rank},
                                      {"captured", std::to_string(peers_.captured)}}},
        skew_ns_);
    out_.items.back().slice = SliceRef{last_->rank_index, SliceOf(store, last_->row)};
  }

  // Their shares add up to 1.
  void AddParts() {
    if (times_.source == TimesSource::kArrivals && last_ != nullptr) {
      AddSkew();
    } else if (times_.wait_ns > 0) {
      Add(times_.is_least_wait
              ? Message{"wait.others_at_least", {{"time", TimeText(times_.wait_ns)}}}
              : Message{"wait.others", {{"time", TimeText(times_.wait_ns)}}},
          times_.wait_ns);
    }
    if (times_.idle_ns > 0) {
      Add(Message{"wait.idle", {{"time", TimeText(times_.idle_ns)}}}, times_.idle_ns);
    }
    Add(Message{"wait.transfer", {{"time", TimeText(times_.transit_ns)}}}, times_.transit_ns);
  }

  // The largest part. Idle time and waits end when the last rank comes: where that one is not
  // known, the cause was not captured.
  void Judge() {
    const Evidence& largest =
        *std::max_element(out_.items.begin(), out_.items.end(),
                          [](const Evidence& a, const Evidence& b) { return a.ns < b.ns; });
    out_.verdict = largest.wording;
    if (largest.wording.key == "wait.transfer" || largest.wording.key.starts_with("wait.skew"))
      return;
    const std::string time = TimeText(largest.ns);
    const bool is_idle = largest.wording.key == "wait.idle";
    if (peers_.is_partial()) {
      out_.verdict = Message{is_idle ? "wait.idle_partial" : "wait.others_partial",
                             {{"time", time},
                              {"missing", std::to_string(peers_.members - peers_.captured)},
                              {"members", std::to_string(peers_.members)}}};
    } else if (2 * skew_ns_ >= largest.ns && last_->rank_index != rank_index_) {
      out_.verdict = Message{"wait.late",
                             {{"time", TimeText(skew_ns_)},
                              {"rank", std::to_string(job_.ranks[last_->rank_index].info.rank)},
                              {"captured", std::to_string(peers_.captured)}}};
    } else if (is_idle) {
      out_.verdict = Message{"wait.idle_unknown", {{"time", time}}};
    }
  }

  // Whether somebody else may have come last.
  void AddCoverage() {
    if (peers_.members == 0) Add(Message{"warning.group_size_unknown"}, 0);
    if (!peers_.is_partial()) return;
    Add(Message{"wait.partial",
                {{"captured", std::to_string(peers_.captured)},
                 {"members", std::to_string(peers_.members)}}},
        0);
  }

  const store::Job& job_;
  const uint32_t rank_index_;
  JobCallTimes calls_;
  CallTimes times_;
  CallPeers peers_;
  const CollectivePart* last_ = nullptr;  // if it can be known
  int64_t skew_ns_ = 0;                   // until it came
  Explanation out_;
};

}  // namespace

Result<Explanation> ExplainWait(const store::Job& job, uint32_t rank_index, SliceId slice) {
  const auto row = static_cast<size_t>(slice);
  if (rank_index >= job.ranks.size() || row >= job.ranks[rank_index].slices.size()) {
    return Error{ErrorCode::kNotFound, "there is no such slice"};
  }
  const TraceStore& store = job.ranks[rank_index];
  const std::optional<uint32_t> comm_op = CommOpOf(store, slice);
  if (!comm_op) {
    return Error{ErrorCode::kInvalidArgument, "the slice is no communication operator"};
  }
  const StringId name = store.slices.name[row];
  Explanation out = WaitExplainer(job, rank_index, *comm_op).Explain(store.Text(name));
  AddBandwidth(store, name, out.items);
  return out;
}

}  // namespace steplens::analysis
