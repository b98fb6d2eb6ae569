#include "analysis/viewer/flame.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

#include "analysis/classify/classify.h"
#include "analysis/nesting/nesting.h"
#include "analysis/time_math.h"
#include "analysis/viewer/cells.h"
#include "analysis/viewer/metrics.h"

namespace steplens::analysis::viewer {
namespace {

using store::kNoSlice;
using store::TraceStore;

class FlameBuilder {
 public:
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
      const uint32_t node = NodeOf(above, store.Text(store.slices.name[row]));
      node_of_[row] = node;
      const int64_t length_ns = end_ns - begin_ns;
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
    const auto [place, is_new] =
        children_[parent].try_emplace(std::string(name), static_cast<uint32_t>(nodes_.size()));
    if (is_new) nodes_.push_back({parent, std::string(name), 0, 0, 0});
    return place->second;
  }

  std::vector<FlameNode> nodes_;
  std::unordered_map<uint32_t, std::unordered_map<std::string, uint32_t>> children_;
  // Of the slices of the store being added: node, and until when children cover it.
  std::vector<uint32_t> node_of_;
  std::vector<int64_t> covered_to_ns_;
};

}  // namespace

std::vector<FlameNode> BuildFlame(const store::Job& job, std::span<const TrackRef> tracks,
                                  const TimeRange& range) {
  std::map<uint32_t, std::vector<store::TrackId>> by_rank;
  for (const TrackRef& ref : tracks) by_rank[ref.rank_index].push_back(ref.track);
  FlameBuilder builder;
  for (const auto& [rank, list] : by_rank) {
    if (rank < job.ranks.size()) builder.AddTracks(job.ranks[rank], list, range);
  }
  return builder.Take();
}

Result<MetricAnswer> Flame(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const TraceStore* const store, RankOf(call));
  SL_ASSIGN_OR_RETURN(const TimeRange range, RangeOf(call));
  SL_ASSIGN_OR_RETURN(const std::vector<int64_t> listed, call.args.IntList("tracks"));
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
                           IntColumn("total_ns"), IntColumn("self_ns"), IntColumn("count")});
  int64_t id = 0;
  for (const FlameNode& node : BuildFlame(call.job, tracks, range)) {
    rows.Add(id++, node.parent == store::kNoId ? store::kNone : int64_t{node.parent}, node.name,
             node.total_ns, node.self_ns, node.count);
  }
  MetricAnswer answer;
  answer.definition = "steplens.flame";
  answer.query = "SELECT * FROM slices WHERE rank = " + std::to_string(store->info.rank);
  answer.tables.push_back(rows.Take());
  return answer;
}

}  // namespace steplens::analysis::viewer
