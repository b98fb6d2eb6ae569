#include <algorithm>

#include "server/api/flow_ends.h"
#include "server/api/handlers.h"

namespace steplens::server {
namespace {

// The neighbour of a slice in the row, in time, for which `matches` holds; kNoId if none.
template <typename Matches>
uint32_t NeighbourInRow(const LaneRows& rows, size_t r, uint32_t slice, bool forward,
                        Matches&& matches) {
  const auto slices = rows.row(r);
  const SliceColumns& columns = rows.columns();
  const auto later = [&](uint32_t a, uint32_t b) {  // a behind b
    return columns.begin(a) != columns.begin(b) ? columns.begin(a) > columns.begin(b) : a > b;
  };
  size_t at = static_cast<size_t>(
      std::partition_point(slices.begin(), slices.end(),
                           [&](uint32_t other) { return !later(other, slice); }) -
      slices.begin());
  if (forward) {
    for (; at < slices.size(); ++at) {
      if (matches(slices[at])) return slices[at];
    }
    return store::kNoId;
  }
  while (at-- > 0) {
    if (slices[at] != slice && matches(slices[at])) return slices[at];
  }
  return store::kNoId;
}

// Where the first arrow of a slice leads to, or comes from.
Result<SliceRef> AlongFlow(const Ask& ask, const SliceRef& ref, bool forward) {
  for (const FlowNeighbour& other : FlowNeighbours(ask.view, *ref.home, ref.slice)) {
    if (other.is_incoming != forward) return SliceRef{other.lane, other.slice, other.lane};
  }
  return Error{ErrorCode::kNotFound, forward ? "no arrow leaves it" : "no arrow leads to it"};
}

Result<SliceRef> AlongLane(const SliceRef& ref, const std::string& same, bool forward) {
  const LaneRows& rows = ref.lane->rows;
  const SliceColumns& columns = rows.columns();
  const size_t own_row = rows.RowOf(ref.slice);
  uint32_t best = store::kNoId;
  for (size_t r = 0; r < rows.rows(); ++r) {
    if (same == "row" && r != own_row) continue;
    const uint32_t found = NeighbourInRow(rows, r, ref.slice, forward, [&](uint32_t other) {
      return same != "name" || columns.name[other] == columns.name[ref.slice];
    });
    if (found == store::kNoId) continue;
    const auto key = [&](uint32_t slice) { return std::pair(columns.begin(slice), slice); };
    if (best == store::kNoId || (forward ? key(found) < key(best) : key(found) > key(best)))
      best = found;
  }
  if (best == store::kNoId)
    return Error{ErrorCode::kNotFound, forward ? "no such slice follows" : "no such slice before"};
  return SliceRef{ref.lane, best, ref.lane};
}

}  // namespace

Result<Response> PostNext(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const SliceRef ref, SliceParam(ask));
  SL_ASSIGN_OR_RETURN(const int64_t direction, ask.params.IntOr("dir", 1));
  SL_ASSIGN_OR_RETURN(const std::string same, ask.params.TextOr("same", "row"));
  if (direction != 1 && direction != -1)
    return Error{ErrorCode::kInvalidArgument, "'dir' must be 1 or -1"};
  if (same != "name" && same != "track" && same != "row" && same != "flow")
    return Error{ErrorCode::kInvalidArgument, "'same' must be name, track, row or flow"};
  const bool forward = direction == 1;
  SL_ASSIGN_OR_RETURN(const SliceRef next, same == "flow" ? AlongFlow(ask, ref, forward)
                                                          : AlongLane(ref, same, forward));
  JsonWriter json;
  json.BeginObject();
  WriteSlice(json, ask, *next.lane, next.slice);
  json.EndObject();
  return JsonResponse(std::move(json));
}

}  // namespace steplens::server
