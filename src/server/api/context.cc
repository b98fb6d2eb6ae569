#include "server/api/context.h"

#include <fmt/format.h>

#include <algorithm>

#include "server/bad_request.h"

namespace steplens::server {
std::string LaneTitle(const Ask& ask, const Lane& lane) {
  if (lane.kind == LaneKind::kRank) return "rank " + lane.name;
  const Lane* parent = ask.view.FindLane(lane.parent);
  return parent == nullptr ? lane.name : LaneTitle(ask, *parent) + " / " + lane.name;
}

Result<const Lane*> LaneParam(const Ask& ask, std::string_view name) {
  SL_ASSIGN_OR_RETURN(const int64_t id, ask.params.Int(name));
  const Lane* lane = ask.view.FindLane(id);
  if (lane == nullptr) return Bad(fmt::format("'{}': there is no track {}", name, id));
  return lane;
}

Result<SliceRef> SliceParam(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const Lane* lane, LaneParam(ask));
  SL_ASSIGN_OR_RETURN(const int64_t i, ask.params.Int("i"));
  const bool in_columns = lane->kind == LaneKind::kSlices && i >= 0 &&
                          static_cast<size_t>(i) < lane->rows.columns().size();
  if (!in_columns || lane->rows.RowOf(static_cast<uint32_t>(i)) == lane->rows.rows())
    return Bad(fmt::format("track {} has no slice {}", lane->id, i));
  const auto slice = static_cast<uint32_t>(i);
  const ShownRank& rank = ask.view.RankOf(*lane);
  return SliceRef{lane, slice,
                  lane->is_merged() ? rank.timeline->LaneOf(*rank.store, slice) : lane};
}

Result<std::vector<const Lane*>> SliceLanes(const Ask& ask, const std::vector<int64_t>& ids,
                                            LaneKind kind) {
  std::vector<bool> wanted(ask.view.lane_count() + 1, false);
  std::vector<const Lane*> apart;  // in no tree
  for (const int64_t id : ids) {
    const Lane* lane = ask.view.FindLane(id);
    if (lane == nullptr) return Bad(fmt::format("there is no track {}", id));
    if (!lane->is_merged() && !lane->is_query()) {
      wanted[static_cast<size_t>(id)] = true;
    } else if (std::find(apart.begin(), apart.end(), lane) == apart.end()) {
      apart.push_back(lane);
    }
  }
  std::vector<const Lane*> out;
  for (size_t id = 1; id < wanted.size(); ++id) {
    const Lane* lane = ask.view.FindLane(static_cast<int64_t>(id));
    const bool is_aside = (lane->flags & kAsideLane) != 0;
    if (wanted[lane->parent] && lane->parent != 0 && !is_aside) wanted[id] = true;
    if (wanted[id] && lane->kind == kind) out.push_back(lane);
  }
  if (kind == LaneKind::kSlices) out.insert(out.end(), apart.begin(), apart.end());
  return out;
}

Result<std::vector<const Lane*>> SliceLanesParam(const Ask& ask, std::string_view name,
                                                 bool all_if_absent, LaneKind kind) {
  SL_ASSIGN_OR_RETURN(std::vector<int64_t> ids, ask.params.Ints(name));
  if (all_if_absent && !ask.params.Has(name)) {
    for (const auto& rank : ask.view.ranks()) ids.push_back(rank->timeline->lanes().front()->id);
  }
  Result<std::vector<const Lane*>> lanes = SliceLanes(ask, ids, kind);
  if (!lanes.ok()) return std::move(lanes).error().During(fmt::format("'{}'", name));
  return lanes;
}

void WriteSlice(JsonWriter& json, const Ask& ask, const Lane& lane, uint32_t slice) {
  json.Key("track").Int(lane.id).Key("i").Int(slice);
  json.Key("name").String(ask.NameOf(lane, slice));
  json.Key("begin").Int(ask.ToShown(lane, lane.rows.columns().begin(slice)));
  json.Key("dur").Int(lane.rows.columns().dur(slice));
}

uint32_t JobIndex(const Ask& ask, const Lane& lane) {
  const std::vector<size_t> slots = ask.view.SlotsByRank();
  return static_cast<uint32_t>(std::find(slots.begin(), slots.end(), lane.rank_slot) -
                               slots.begin());
}

Result<const store::Job*> NeedJob(const Ask& ask) {
  if (const store::Job* job = ask.view.job(); job != nullptr) {
    if (job->ranks.empty()) return Error{ErrorCode::kNotFound, ask.view.failure()};
    return job;
  }
  return Error{ErrorCode::kCancelled, "the ranks are still being read; try again in a moment"};
}

}  // namespace steplens::server
