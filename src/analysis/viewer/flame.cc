#include "analysis/viewer/flame.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

#include "analysis/cells.h"
#include "analysis/classify/classify.h"
#include "analysis/nesting/nesting.h"
#include "analysis/time_math.h"
#include "analysis/viewer/metrics.h"

namespace steplens::analysis::viewer {
namespace {

using store::kNoSlice;
using store::TraceStore;

class FlameBuilder {
 public:
  FlameBuilder(FlameOrder order, int64_t least_ns) : order_(order), least_ns_(least_ns) {}

  void AddTracks(const TraceStore& store, const std::vector<store::TrackId>& tracks,
                 const TimeRange& range) {
    std::vector<bool> wanted(store.tracks.size(), false);
    for (const store::TrackId track : tracks) {
      if (static_cast<size_t>(track) < wanted.size()) wanted[static_cast<size_t>(track)] = true;
    }
    const TrackIndex index = BuildTrackIndex(store, wanted);
    const Nesting nesting = ComputeNesting(store, index);
    node_of_.assign(store.slices.size(), store::kNoId);
    covered_to_ns_.assign(store.slices.size(), std::numeric_limits<int64_t>::min());
    // A parent comes before its children in the order of its track.
    for (const store::SliceId slice : index.order) {
      const auto row = static_cast<size_t>(slice);
      const int64_t begin_ns = std::max(store.slices.begin_ns[row], range.begin_ns);
      const int64_t end_ns =
          std::min(EndNs(store.slices.begin_ns[row], store.slices.dur_ns[row]), range.end_ns);
      if (begin_ns > end_ns || (begin_ns == end_ns && store.slices.dur_ns[row] > 0)) continue;
      const store::SliceId parent = nesting.parent[row];
      const uint32_t above =
          parent == kNoSlice ? store::kNoId : node_of_[static_cast<size_t>(parent)];
      if (order_ == FlameOrder::kTime && store.slices.track[row] != last_track_) {
        children_[store::kNoId].clear();
        last_track_ = store.slices.track[row];
      }
      const int64_t length_ns = end_ns - begin_ns;
      const bool is_tiny = order_ == FlameOrder::kTime && length_ns < least_ns_;
      // What is inside of something that cannot be seen cannot be seen either.
      if (is_tiny && above != store::kNoId && nodes_[above].name == kTiny) {
        node_of_[row] = above;
        continue;
      }
      const uint32_t node = NodeOf(above, is_tiny ? kTiny : store.Text(store.slices.name[row]));
      node_of_[row] = node;
      if (nodes_[node].count == 0) {
        nodes_[node].begin_ns = begin_ns;
        nodes_[node].track = store.slices.track[row];
      }
      nodes_[node].end_ns = std::max(nodes_[node].end_ns, end_ns);
      nodes_[node].total_ns = AddNs(nodes_[node].total_ns, length_ns);
      nodes_[node].self_ns = AddNs(nodes_[node].self_ns, length_ns);
      ++nodes_[node].count;
      if (above == store::kNoId) continue;
      // Children may overlap each other: what they cover together is not the parent's own.
      int64_t& covered_to_ns = covered_to_ns_[static_cast<size_t>(parent)];
      nodes_[above].self_ns -= std::max<int64_t>(0, end_ns - std::max(begin_ns, covered_to_ns));
      covered_to_ns = std::max(covered_to_ns, end_ns);
    }
  }
  std::vector<FlameNode> Take() { return std::move(nodes_); }

 private:
  uint32_t NodeOf(uint32_t parent, std::string_view name) {
    auto& children = children_[parent];
    const auto node = static_cast<uint32_t>(nodes_.size());
    // In order of time only the last one can go on.
    if (order_ == FlameOrder::kTime && !children.contains(std::string(name))) children.clear();
    const auto [place, is_new] = children.try_emplace(std::string(name), node);
    if (is_new) nodes_.push_back({.parent = parent, .name = std::string(name)});
    return place->second;
  }

  static constexpr std::string_view kTiny = "…";
  const FlameOrder order_;
  const int64_t least_ns_;
  store::TrackId last_track_ = store::kNoTrack;

  std::vector<FlameNode> nodes_;
  std::unordered_map<uint32_t, std::unordered_map<std::string, uint32_t>> children_;
  // Of the slices of the store being added: node, and until when children cover it.
  std::vector<uint32_t> node_of_;
  std::vector<int64_t> covered_to_ns_;
};

}  // namespace

std::vector<FlameNode> BuildFlame(const store::Job& job, std::span<const TrackRef> tracks,
                                  const TimeRange& range, FlameOrder order, int64_t least_ns) {
  std::map<uint32_t, std::vector<store::TrackId>> by_rank;
  for (const TrackRef& ref : tracks) by_rank[ref.rank_index].push_back(ref.track);
  FlameBuilder builder(order, least_ns);
  for (const auto& [rank, list] : by_rank) {
    if (rank < job.ranks.size()) builder.AddTracks(job.ranks[rank], list, range);
  }
  return builder.Take();
}

Result<MetricAnswer> Flame(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const TraceStore* const store, RankOf(call));
  SL_ASSIGN_OR_RETURN(const TimeRange range, RangeOf(call));
  SL_ASSIGN_OR_RETURN(const std::vector<int64_t> listed, call.args.IntList("tracks"));
  SL_ASSIGN_OR_RETURN(const std::string order_text, call.args.TextOr("order", "merged"));
  if (order_text != "merged" && order_text != "time")
    return Error{ErrorCode::kInvalidArgument, "'order' must be merged or time"};
  SL_ASSIGN_OR_RETURN(const int64_t origin_ns, OriginOf(call));
  const auto rank_index = static_cast<uint32_t>(store - call.job.ranks.data());
  std::vector<TrackRef> tracks;
  for (const int64_t track : listed) {
    if (track < 0 || static_cast<size_t>(track) >= store->tracks.size()) {
      return Error{ErrorCode::kNotFound, "there is no track " + std::to_string(track)};
    }
    tracks.push_back({rank_index, static_cast<store::TrackId>(track)});
  }
  if (listed.empty()) {  // the host's threads
    const std::vector<TrackKind> kinds = ClassifyTracks(*store);
    for (uint32_t t = 0; t < kinds.size(); ++t) {
      if (kinds[t] == TrackKind::kHost) tracks.push_back({rank_index, store::TrackId{t}});
    }
  }
  TableRows rows("nodes", {IntColumn("id"), IntColumn("parent"), TextColumn("name"),
                           IntColumn("total_ns"), IntColumn("self_ns"), IntColumn("count"),
                           IntColumn("begin_ns"), IntColumn("end_ns"), IntColumn("track")});
  // A pixel of a wide screen.
  constexpr int64_t kWidestScreen = 4000;
  const bool in_time = order_text == "time";
  const store::Extent extent = store::ComputeExtent(*store);
  const int64_t shown_ns =
      std::min(range.end_ns, extent.end_ns) - std::max(range.begin_ns, extent.begin_ns);
  int64_t id = 0;
  for (const FlameNode& node :
       BuildFlame(call.job, tracks, range, in_time ? FlameOrder::kTime : FlameOrder::kMerged,
                  std::max<int64_t>(shown_ns, 0) / kWidestScreen)) {
    rows.Add(id++, node.parent == store::kNoId ? store::kNone : int64_t{node.parent}, node.name,
             node.total_ns, node.self_ns, node.count, AddNs(node.begin_ns, -origin_ns),
             AddNs(node.end_ns, -origin_ns), static_cast<int64_t>(node.track));
  }
  MetricAnswer answer;
  answer.definition = "steplens.flame";
  answer.query = "SELECT * FROM slices WHERE rank = " + std::to_string(store->info.rank);
  answer.tables.push_back(rows.Take());
  return answer;
}

}  // namespace steplens::analysis::viewer
