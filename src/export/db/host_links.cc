#include "export/db/host_links.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <span>
#include <unordered_set>

#include "analysis/classify/classify.h"
#include "analysis/nesting/nesting.h"

namespace steplens::exporting {
namespace {

using analysis::SliceKind;
using analysis::TrackKind;
using store::kNoId;
using store::kNone;
using store::TraceStore;

constexpr int64_t kFrameworkLinks = int64_t{5} << 28;
constexpr StringId kNoName{kNoId};

// Slices by the point they start at; of several the shortest, of equal ones the first.
class StartingSlices {
 public:
  // The store must outlive this.
  StartingSlices(const TraceStore& store, const std::function<bool(size_t)>& is_wanted)
      : begin_ns_(store.slices.begin_ns.span()),
        dur_ns_(store.slices.dur_ns.span()),
        index_(analysis::BuildTrackIndex(store, is_wanted)) {}

  uint32_t Find(store::TrackId track, int64_t ns) const {
    const auto slices = index_.slices(track);
    auto found = std::upper_bound(
        slices.begin(), slices.end(), ns,
        [&](int64_t at_ns, store::SliceId slice) { return at_ns < BeginNs(slice); });
    if (found == slices.begin()) return kNoId;
    --found;
    if (BeginNs(*found) != ns) return kNoId;
    while (found != slices.begin() && IsEqual(*std::prev(found), *found)) --found;
    return static_cast<uint32_t>(*found);
  }

 private:
  int64_t BeginNs(store::SliceId slice) const { return begin_ns_[static_cast<size_t>(slice)]; }
  bool IsEqual(store::SliceId a, store::SliceId b) const {
    return BeginNs(a) == BeginNs(b) &&
           dur_ns_[static_cast<size_t>(a)] == dur_ns_[static_cast<size_t>(b)];
  }

  std::span<const int64_t> begin_ns_;  // of the store's slices
  std::span<const int64_t> dur_ns_;
  analysis::TrackIndex index_;
};

bool HasFlows(const TraceStore& store, std::string_view kind) {
  const auto id = store.strings.Find(kind);
  return id &&
         std::find(store.flows.kind.begin(), store.flows.kind.end(), *id) != store.flows.kind.end();
}

class LinkCollector {
 public:
  explicit LinkCollector(DbContext& ctx) : ctx_(ctx), store_(ctx.store), kinds_(ctx.store) {}

  std::vector<HostLink> Collect() {
    AddQueueItems();
    if (ctx_.options.is_raw) AddSequencePairs();
    if (HasFlows(store_, "fwdbwd") || HasFlows(store_, "async_npu")) AddFlows();
    std::sort(links_.begin(), links_.end());
    links_.erase(std::unique(links_.begin(), links_.end()), links_.end());
    return std::move(links_);
  }

 private:
  void AddQueueItems() {
    for (uint32_t i = 0; i < store_.slices.size(); ++i) {
      const SliceKind kind = kinds_[store_.slices.category[i]];
      const int64_t correlation = store_.slices.correlation[i];
      largest_connection_ = std::max(
          largest_connection_, correlation < kFrameworkLinks ? correlation : largest_connection_);
      if (store_.slices.name[i] == node_launch_ && correlation != kNone)
        node_launches_.insert(correlation);
      const bool is_queue = kind == SliceKind::kEnqueue || kind == SliceKind::kDequeue;
      if (!is_queue || correlation == kNone) continue;
      links_.push_back({i, correlation + kFrameworkLinks});
      largest_queue_id_ = std::max(largest_queue_id_, correlation);
    }
  }

  void AddFlows() {
    const StartingSlices ops(
        store_, [&](size_t i) { return kinds_[store_.slices.category[i]] == SliceKind::kHostOp; });
    const StartingSlices targets(store_, [&](size_t i) {
      const TrackKind kind = ctx_.timeline.of(store_.slices.track[i]).kind;
      return kind == TrackKind::kDevice || kind == TrackKind::kCommGroup;
    });
    const store::FlowTable& flows = store_.flows;
    for (size_t i = 0; i < flows.size(); ++i) {
      const std::string_view kind = store_.Text(flows.kind[i]);
      const bool is_launch = kind == "async_npu";
      if (!is_launch && (kind != "fwdbwd" || ctx_.options.is_raw)) continue;
      const uint32_t from = ops.Find(flows.from_track[i], flows.from_ns[i]);
      const uint32_t to = (is_launch ? targets : ops).Find(flows.to_track[i], flows.to_ns[i]);
      if (from == kNoId || to == kNoId) continue;
      if (is_launch) {
        if (IsNodeLaunch(to)) links_.push_back({from, LaunchConnection(to)});
      } else {
        AddPair(from, to);
      }
    }
  }

  void AddPair(uint32_t forward, uint32_t backward) {
    const int64_t connection = kFrameworkLinks + ++largest_queue_id_;
    links_.push_back({forward, connection});
    links_.push_back({backward, connection});
  }

  // Forward and backward operators of one sequence number. Other than in the trace, which has no
  // arrow within a thread, both may be of one thread; of several the last record counts.
  void AddSequencePairs() {
    struct Pair {
      uint32_t forward = kNoId;
      uint32_t backward = kNoId;
    };
    const store::HostOpTable& ops = store_.host_ops;
    tsl::robin_map<int64_t, Pair> pairs;
    for (size_t i = 0; i < ops.size(); ++i) {
      if (ops.sequence_number[i] < 0) continue;
      Pair& pair = pairs[ops.sequence_number[i]];
      (ops.fwd_thread[i] == 0 ? pair.forward : pair.backward) = static_cast<uint32_t>(ops.slice[i]);
    }
    std::vector<Pair> whole;
    for (const auto& [sequence, pair] : pairs) {
      if (pair.forward != kNoId && pair.backward != kNoId) whole.push_back(pair);
    }
    std::sort(whole.begin(), whole.end(),
              [](const Pair& a, const Pair& b) { return a.forward < b.forward; });
    for (const Pair& pair : whole) AddPair(pair.forward, pair.backward);
  }

  // Only launches by a node-level API of CANN are links; where no such API was recorded, all are.
  bool IsNodeLaunch(uint32_t target) const {
    return node_launches_.empty() || node_launches_.contains(store_.slices.correlation[target]);
  }

  int64_t LaunchConnection(uint32_t target) {
    if (const int64_t known = ctx_.ConnectionOf(target); known != kNoId32) return known;
    return ctx_.made_connections[target] = ++largest_connection_;
  }

  DbContext& ctx_;
  const TraceStore& store_;
  analysis::SliceKinds kinds_;
  const StringId node_launch_ = store_.strings.Find("Node@launch").value_or(kNoName);
  std::unordered_set<int64_t> node_launches_;  // connections
  std::vector<HostLink> links_;
  int64_t largest_queue_id_ = 0;
  int64_t largest_connection_ = 0;
};

}  // namespace

std::vector<HostLink> CollectHostLinks(DbContext& ctx) { return LinkCollector(ctx).Collect(); }

}  // namespace steplens::exporting
