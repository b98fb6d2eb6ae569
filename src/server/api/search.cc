#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/number.h"
#include "server/api/filter_param.h"
#include "server/api/handlers.h"
#include "server/api/slice_matches.h"

namespace steplens::server {
namespace {

// Hits are ordered by shown begin, track and slice; a cursor is the place of the last one sent.
struct Place {
  int64_t begin = std::numeric_limits<int64_t>::min();
  uint32_t track = 0;
  uint32_t slice = 0;
  auto operator<=>(const Place&) const = default;
};

Result<Place> ParseCursor(const Params& params) {
  if (!params.Has("cursor")) return Place{};
  SL_ASSIGN_OR_RETURN(const std::string text, params.Text("cursor"));
  const size_t first = text.find(':');
  const size_t second = text.find(':', first + 1);
  if (first != std::string::npos && second != std::string::npos) {
    const auto begin = ParseInt64(text.substr(0, first));
    const auto track = ParseInt64(text.substr(first + 1, second - first - 1));
    const auto slice = ParseInt64(text.substr(second + 1));
    if (begin && track && slice)
      return Place{*begin, static_cast<uint32_t>(*track), static_cast<uint32_t>(*slice)};
  }
  return Error{ErrorCode::kInvalidArgument, "'cursor' is not one that a search returned"};
}

// What one rank contributes.
struct RankHits {
  std::vector<uint64_t> per_lane;  // by index in the rank's lanes
  std::vector<Place> first;        // the earliest behind the cursor, a heap: the latest on top
};

void Keep(RankHits& hits, const Place& place, const Place& cursor, size_t limit) {
  if (place <= cursor && cursor.track != 0) return;
  if (hits.first.size() == limit) {
    if (limit == 0 || place >= hits.first.front()) return;
    std::pop_heap(hits.first.begin(), hits.first.end());
    hits.first.pop_back();
  }
  hits.first.push_back(place);
  std::push_heap(hits.first.begin(), hits.first.end());
}

void WriteHits(JsonWriter& json, const Ask& ask, const std::vector<Place>& places) {
  json.Key("hits").BeginArray();
  for (const Place& place : places) {
    const Lane& lane = *ask.view.FindLane(place.track);
    json.BeginObject();
    WriteSlice(json, ask, lane, place.slice);
    json.Key("lane").String(LaneTitle(ask, lane)).EndObject();
  }
  json.EndArray();
}

}  // namespace

Result<Response> PostSearch(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const SliceFilter filter, FilterParam(ask));
  SL_ASSIGN_OR_RETURN(const std::vector<const Lane*> lanes, SliceLanesParam(ask, "tracks", true));
  SliceMatches::Window window;
  SL_ASSIGN_OR_RETURN(window.t0, ask.params.IntOr("t0", window.t0));
  SL_ASSIGN_OR_RETURN(window.t1, ask.params.IntOr("t1", window.t1));
  SL_ASSIGN_OR_RETURN(const int64_t limit, ask.params.IntIn("limit", 200, 0, 10'000));
  SL_ASSIGN_OR_RETURN(const Place cursor, ParseCursor(ask.params));

  const SliceMatches matches(ask, filter, lanes, window);
  std::vector<RankHits> hits(ask.view.ranks().size());
  std::vector<Status> ends(hits.size());
  ask.open.dataset->pool().ParallelFor(hits.size(), [&](size_t slot) {
    const auto& own_lanes = ask.view.ranks()[slot]->timeline->lanes();
    const uint32_t first_id = own_lanes.front()->id;
    hits[slot].per_lane.assign(own_lanes.size(), 0);
    ends[slot] = matches.ForEach(slot, [&](const Lane& lane, uint32_t slice) {
      ++hits[slot].per_lane[lane.id - first_id];
      const int64_t begin = ask.ToShown(lane, lane.rows.columns().begin(slice));
      Keep(hits[slot], {begin, lane.id, slice}, cursor, static_cast<size_t>(limit));
    });
  });
  for (Status& end : ends) SL_RETURN_IF_ERROR(std::move(end));

  uint64_t count = 0;
  std::vector<Place> places;
  JsonWriter json;
  json.BeginObject().Key("per_track").BeginArray();
  for (const size_t slot : ask.view.SlotsByRank()) {
    const auto& rank_lanes = ask.view.ranks()[slot]->timeline->lanes();
    for (size_t i = 0; i < rank_lanes.size(); ++i) {
      const uint64_t here = hits[slot].per_lane[i];
      if (here == 0) continue;
      count += here;
      json.BeginArray().Int(rank_lanes[i]->id).Int(static_cast<int64_t>(here)).EndArray();
    }
    places.insert(places.end(), hits[slot].first.begin(), hits[slot].first.end());
  }
  json.EndArray().Key("count").Int(static_cast<int64_t>(count));
  std::sort(places.begin(), places.end());
  const bool more = places.size() > static_cast<size_t>(limit) ||
                    (places.size() == static_cast<size_t>(limit) && limit > 0);
  places.resize(std::min(places.size(), static_cast<size_t>(limit)));
  WriteHits(json, ask, places);
  json.Key("cursor");
  if (more && !places.empty()) {
    const Place& last = places.back();
    json.String(fmt::format("{}:{}:{}", last.begin, last.track, last.slice));
  } else {
    json.Null();
  }
  json.EndObject();
  return JsonResponse(std::move(json));
}

}  // namespace steplens::server
