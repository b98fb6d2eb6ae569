#include "server/api/flow_ends.h"

#include <algorithm>
#include <tuple>

namespace steplens::server {
namespace {

// An arrow may end a little before the slice it starts.
constexpr int64_t kSlackNs = 1'000'000;

}  // namespace

std::vector<FlowNeighbour> FlowNeighbours(const Dataset::View& view, const Lane& lane,
                                          uint32_t slice) {
  std::vector<FlowNeighbour> out;
  if (lane.is_derived() || lane.kind != LaneKind::kSlices) return out;
  const ShownRank& rank = view.RankOf(lane);
  const RankTimeline& timeline = *rank.timeline;
  const auto& flows = rank.store->flows;
  const int64_t begin_ns = lane.rows.columns().begin(slice);
  const int64_t end_ns = lane.rows.columns().end(slice);
  const auto [first, last] = timeline.flows().Between(
      *rank.store, lane.track, SubtractSaturating(begin_ns, kSlackNs), end_ns);
  for (size_t i = first; i < last; ++i) {
    const FlowIndex::End end = timeline.flows().end(lane.track, i);
    const int64_t here_ns = end.is_target ? flows.to_ns[end.flow] : flows.from_ns[end.flow];
    if (here_ns > end_ns || here_ns < SubtractSaturating(begin_ns, end.is_target ? kSlackNs : 0))
      continue;
    if (SliceAtFlowEnd(lane.rows, here_ns, end.is_target) != slice) continue;
    const Lane* other =
        timeline.LaneOf(end.is_target ? flows.from_track[end.flow] : flows.to_track[end.flow]);
    if (other == nullptr) continue;
    const int64_t there_ns = end.is_target ? flows.from_ns[end.flow] : flows.to_ns[end.flow];
    const uint32_t found = SliceAtFlowEnd(other->rows, there_ns, !end.is_target);
    if (found == store::kNoId) continue;
    out.push_back({rank.store->Text(flows.kind[end.flow]), other, found, end.is_target});
  }
  const auto key = [](const FlowNeighbour& n) {
    return std::tuple(n.is_incoming, n.kind, n.lane->rows.columns().begin(n.slice), n.slice);
  };
  std::sort(out.begin(), out.end(),
            [&](const FlowNeighbour& a, const FlowNeighbour& b) { return key(a) < key(b); });
  return out;
}

}  // namespace steplens::server
