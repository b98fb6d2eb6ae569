#include <fmt/format.h>

#include <algorithm>

#include "server/api/handlers.h"

namespace steplens::server {
namespace {

std::string_view KindName(LaneKind kind) {
  switch (kind) {
    case LaneKind::kRank:
      return "rank";
    case LaneKind::kGroup:
      return "group";
    case LaneKind::kSlices:
      return "slices";
    case LaneKind::kCounter:
      return "counter";
  }
  return "";
}

int64_t RowCount(const Lane& lane) {
  if (lane.kind == LaneKind::kSlices) return static_cast<int64_t>(lane.rows.rows());
  return lane.kind == LaneKind::kCounter ? 1 : 0;
}

Response Strings(const Ask& ask, const std::vector<uint32_t>& ids) {
  JsonWriter json;
  json.BeginObject().Key("strings").BeginObject();
  for (const uint32_t id : ids) json.Key(std::to_string(id)).String(ask.view.names().Text(id));
  json.EndObject().EndObject();
  return JsonResponse(std::move(json));
}

}  // namespace

Result<Response> GetTracks(const Ask& ask) {
  JsonWriter json;
  json.BeginObject().Key("cols").BeginArray();
  for (const char* name :
       {"id", "parent", "kind", "name", "path", "rank", "dev", "rows", "n", "flags"})
    json.String(name);
  json.EndArray().Key("rows").BeginArray();
  for (const size_t slot : ask.view.SlotsByRank()) {
    const ShownRank& rank = *ask.view.ranks()[slot];
    for (const auto& lane : rank.timeline->lanes()) {
      json.BeginArray().Int(lane->id).Int(lane->parent).String(KindName(lane->kind));
      json.String(lane->name).String(lane->path).Int(rank.rank).Int(lane->device);
      json.Int(RowCount(*lane)).Int(static_cast<int64_t>(lane->count)).Int(lane->flags).EndArray();
    }
  }
  json.EndArray().EndObject();
  return JsonResponse(std::move(json));
}

Result<Response> PostStrings(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const std::vector<int64_t> ids, ask.params.Ints("ids"));
  std::vector<uint32_t> known;
  for (const int64_t id : ids) {
    if (id < 0 || static_cast<size_t>(id) >= ask.view.names().size())
      return Error{ErrorCode::kInvalidArgument, fmt::format("'ids': there is no string {}", id)};
    known.push_back(static_cast<uint32_t>(id));
  }
  return Strings(ask, known);
}

// The names of most slices first would need a count of all; those of the first ranks, in order of
// first appearance, serve as well: nearly all names are there.
Result<Response> GetTopStrings(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const int64_t top, ask.params.IntIn("top", 5000, 0, 100'000));
  std::vector<uint32_t> ids(std::min(static_cast<size_t>(top), ask.view.names().size()));
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<uint32_t>(i);
  return Strings(ask, ids);
}

}  // namespace steplens::server
