#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/time_math.h"
#include "analysis/viewer/collectives.h"
#include "analysis/viewer/cover.h"
#include "analysis/viewer/explain.h"
#include "analysis/viewer/explain_common.h"
#include "analysis/viewer/overlap_lanes.h"

namespace steplens::analysis::viewer {
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
  const std::tuple<const char*, const char*, int64_t> parts[] = {
      {"wait.last_computed", "meanwhile rank {rank} computed for {time}", computing_ns},
      {"wait.last_communicated", "meanwhile rank {rank} was in other communication for {time}",
       communication_ns},
      {"wait.last_idle", "meanwhile the device of rank {rank} was idle for {time}", free_ns}};
  for (const auto& [key, english, ns] : parts) {
    if (ns <= 0) continue;
    Evidence item =
        MakeEvidence(Word(key, english, {{"rank", rank}, {"time", TimeText(ns)}}), ns, whole_ns);
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
    const auto ns = static_cast<int64_t>(rows.transit_ms[i] * 1e6);
    Evidence item =
        MakeEvidence(Word("wait.bandwidth", "{transport} reached {gbps} of about {expected} GB/s",
                          {{"transport", transport},
                           {"gbps", fmt::format("{:.2f}", rows.bandwidth_gbps[i])},
                           {"expected", fmt::format("{:.1f}", expected_gbps)}}),
                     ns, 0);
    item.share = rows.bandwidth_gbps[i] / expected_gbps;
    items.push_back(std::move(item));
  }
}

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
  const int64_t dur_ns = store.slices.dur_ns[row];
  const std::string name(store.Text(store.slices.name[row]));
  Explanation out;
  out.title =
      Word("wait.title", "{name} took {time}", {{"name", name}, {"time", TimeText(dur_ns)}});
  const CollectiveBook book(job);
  const CollectiveBook::Call* call = book.Find(rank_index, *comm_op);
  const bool has_peers = call != nullptr && call->parts.size() > 1;
  const int64_t transfer_ns = has_peers ? std::min(call->ShortestNs(), dur_ns) : dur_ns;
  const int64_t skew_ns = dur_ns - transfer_ns;
  if (!has_peers) {
    out.items.push_back(
        MakeEvidence(Word("wait.alone",
                          "no other captured rank took part in it: waiting and transfer cannot be "
                          "told apart"),
                     dur_ns, dur_ns));
    out.verdict = out.items.front().wording;
    AddBandwidth(store, store.slices.name[row], out.items);
    return out;
  }
  const auto last = std::min_element(
      call->parts.begin(), call->parts.end(),
      [](const CollectivePart& a, const CollectivePart& b) { return a.dur_ns < b.dur_ns; });
  const TraceStore& last_store = job.ranks[last->rank_index];
  const std::string last_rank = std::to_string(last_store.info.rank);
  Evidence skew = MakeEvidence(Word("wait.skew", "{time} waiting for rank {rank}, which came last",
                                    {{"time", TimeText(skew_ns)}, {"rank", last_rank}}),
                               skew_ns, dur_ns);
  skew.slice = SliceRef{last->rank_index, SliceOf(last_store, last->row)};
  out.items.push_back(std::move(skew));
  out.items.push_back(
      MakeEvidence(Word("wait.transfer", "{time} of transfer", {{"time", TimeText(transfer_ns)}}),
                   transfer_ns, dur_ns));
  out.verdict = out.items[skew_ns > transfer_ns ? 0 : 1].wording;
  if (skew_ns > 0 && last->rank_index != rank_index) {
    AddLastRank(job, *last, skew_ns, dur_ns, out.items);
  }
  AddBandwidth(store, store.slices.name[row], out.items);
  return out;
}

}  // namespace steplens::analysis::viewer
