#include "server/timeline/merged_lane.h"

#include <algorithm>

#include "server/bad_request.h"

namespace steplens::server {
namespace {

constexpr size_t kMaxParts = 64;

// "r0/hw/stream3" beside "r0/hw/stream2" is "stream3".
std::string_view ShortPath(const Lane& lane, const Lane& first) {
  const std::string_view path = lane.path;
  if (lane.parent != first.parent) return path;
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

Result<std::unique_ptr<Lane>> MergeLanes(std::vector<const Lane*> lanes) {
  std::sort(lanes.begin(), lanes.end(), [](const Lane* a, const Lane* b) { return a->id < b->id; });
  lanes.erase(std::unique(lanes.begin(), lanes.end()), lanes.end());
  if (lanes.size() < 2 || lanes.size() > kMaxParts) return Bad("2 to 64 lanes can be merged");
  const Lane& first = *lanes.front();
  auto out = std::make_unique<Lane>();
  out->parent = first.parent;
  out->kind = LaneKind::kSlices;
  out->name = first.name;
  out->path = first.path;
  out->rank_slot = first.rank_slot;
  out->device = first.device;
  for (const Lane* lane : lanes) {
    if (lane->kind != LaneKind::kSlices || lane->is_merged() || lane->is_derived())
      return Bad("only lanes with slices of the capture can be merged");
    if (lane->rank_slot != first.rank_slot) return Bad("only lanes of one rank can be merged");
    out->flags |= lane->flags;
    out->count += lane->count;
    out->parts.push_back(lane->id);
    if (lane == &first) continue;
    out->name += " + " + lane->name;
    out->path += '+';
    out->path += ShortPath(*lane, first);
  }
  return out;
}

void FillMerged(Lane& merged, const RankTimeline& timeline) {
  const auto& lanes = timeline.lanes();
  const uint32_t first_id = lanes.front()->id;
  std::vector<uint32_t> slices;
  slices.reserve(merged.count);
  for (const uint32_t part : merged.parts) {
    const LaneRows& rows = lanes[part - first_id]->rows;
    for (size_t i = 0; i < rows.size(); ++i) slices.push_back(rows.slice_at(i));
  }
  const SliceColumns columns = lanes[merged.parts.front() - first_id]->rows.columns();
  merged.rows = LaneRows(columns, std::move(slices));
  merged.cover = LaneCover(merged.rows);
}

}  // namespace steplens::server
