#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/number.h"
#include "server/api/handlers.h"
#include "server/slice_filter.h"

namespace steplens::server {
namespace {

constexpr int64_t kForever = std::numeric_limits<int64_t>::max();

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

struct Window {
  int64_t t0 = std::numeric_limits<int64_t>::min();
  int64_t t1 = kForever;
};

// What one rank contributes.
struct RankHits {
  std::vector<uint64_t> per_lane;  // by index in the rank's lanes
  std::vector<Place> first;        // the earliest behind the cursor, a heap: the latest on top
};

class Search {
 public:
  Search(const Ask& ask, const SliceFilter& filter, const std::vector<const Lane*>& lanes,
         Window window, Place cursor, size_t limit)
      : ask_(ask), filter_(filter), window_(window), cursor_(cursor), limit_(limit) {
    wanted_.assign(ask.view.lane_count() + 1, false);
    for (const Lane* lane : lanes)
      wanted_[lane->id] = SliceFilter::All(filter.lanes, LaneTitle(ask, *lane) + " " + lane->path);
    matches_.resize(ask.view.names().size());
    for (uint32_t id = 0; id < matches_.size(); ++id)
      matches_[id] = SliceFilter::All(filter.names, ask.view.names().Text(id));
  }

  RankHits Run(size_t slot) const {
    const ShownRank& rank = *ask_.view.ranks()[slot];
    RankHits hits;
    hits.per_lane.assign(rank.timeline->lanes().size(), 0);
    if (!SliceFilter::Any(filter_.ranks, rank.rank)) return hits;
    ScanStore(slot, rank, hits);
    const uint32_t first_id = rank.timeline->lanes().front()->id;
    for (const auto& lane : rank.timeline->lanes()) {
      if (!lane->is_derived() || lane->kind != LaneKind::kSlices || !wanted_[lane->id]) continue;
      if (!filter_.categories.empty()) continue;
      for (uint32_t slice = 0; slice < lane->rows.columns().begin_ns.size(); ++slice) {
        if (matches_[lane->rows.columns().name_of(slice)])
          Consider(slot, rank, *lane, slice, lane->id - first_id, hits);
      }
    }
    return hits;
  }

 private:
  void ScanStore(size_t slot, const ShownRank& rank, RankHits& hits) const {
    const store::TraceStore& store = *rank.store;
    const auto& name_ids = rank.timeline->name_ids();
    // By text of the store: whether a slice of that name, or category, can be a hit.
    std::vector<uint8_t> name_matches(name_ids.size());
    for (size_t i = 0; i < name_ids.size(); ++i) name_matches[i] = matches_[name_ids[i]] ? 1 : 0;
    std::vector<uint8_t> category_matches;
    if (!filter_.categories.empty()) {
      category_matches.resize(store.strings.size());
      for (uint32_t i = 0; i < category_matches.size(); ++i)
        category_matches[i] = SliceFilter::All(filter_.categories, store.Text(StringId{i})) ? 1 : 0;
    }
    const auto names = store.slices.name.span();
    const uint32_t first_id = rank.timeline->lanes().front()->id;
    for (size_t i = 0; i < names.size(); ++i) {
      if (name_matches[static_cast<size_t>(names[i])] == 0) continue;
      if (!category_matches.empty() &&
          category_matches[static_cast<size_t>(store.slices.category[i])] == 0)
        continue;
      const auto slice = static_cast<uint32_t>(i);
      const Lane* lane = rank.timeline->LaneOf(store, slice);
      if (lane != nullptr && wanted_[lane->id])
        Consider(slot, rank, *lane, slice, lane->id - first_id, hits);
    }
  }

  void Consider(size_t slot, const ShownRank& rank, const Lane& lane, uint32_t slice, size_t index,
                RankHits& hits) const {
    const SliceColumns& columns = lane.rows.columns();
    const int64_t dur_ns = columns.dur_ns[slice];
    if (dur_ns < filter_.least_ns || dur_ns > filter_.most_ns) return;
    const int64_t begin = SubtractSaturating(columns.begin(slice), ask_.BaseNs(slot));
    if (begin > window_.t1 || AddSaturating(begin, dur_ns) < window_.t0) return;
    if (!filter_.steps.empty() && !InStep(rank, lane, columns.begin(slice))) return;
    ++hits.per_lane[index];
    const Place place{begin, lane.id, slice};
    if (place <= cursor_ && cursor_.track != 0) return;
    if (hits.first.size() == limit_) {
      if (limit_ == 0 || place >= hits.first.front()) return;
      std::pop_heap(hits.first.begin(), hits.first.end());
      hits.first.pop_back();
    }
    hits.first.push_back(place);
    std::push_heap(hits.first.begin(), hits.first.end());
  }

  bool InStep(const ShownRank& rank, const Lane& lane, int64_t begin_ns) const {
    const bool on_device = (lane.flags & kDeviceLane) != 0;
    for (const analysis::StepRange& step : rank.timeline->steps()) {
      if (!SliceFilter::Any(filter_.steps, step.step)) continue;
      const int64_t from_ns = on_device ? step.begin_ns : step.host_begin_ns;
      const int64_t to_ns = on_device ? step.end_ns : step.host_end_ns;
      if (begin_ns >= from_ns && begin_ns < to_ns) return true;
    }
    return false;
  }

  const Ask& ask_;
  const SliceFilter& filter_;
  Window window_;
  Place cursor_;
  size_t limit_;
  std::vector<bool> wanted_;   // by lane id
  std::vector<bool> matches_;  // by name id
};

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
  SL_ASSIGN_OR_RETURN(const std::string text, ask.params.Text("q"));
  SL_ASSIGN_OR_RETURN(const std::string mode_name, ask.params.TextOr("mode", "contains"));
  SL_ASSIGN_OR_RETURN(const MatchMode mode, ParseMatchMode(mode_name));
  SL_ASSIGN_OR_RETURN(const SliceFilter filter, ParseSliceFilter(text, mode));
  SL_ASSIGN_OR_RETURN(const std::vector<const Lane*> lanes, SliceLanesParam(ask, "tracks", true));
  Window window;
  SL_ASSIGN_OR_RETURN(window.t0, ask.params.IntOr("t0", window.t0));
  SL_ASSIGN_OR_RETURN(window.t1, ask.params.IntOr("t1", window.t1));
  SL_ASSIGN_OR_RETURN(const int64_t limit, ask.params.IntIn("limit", 200, 0, 10'000));
  SL_ASSIGN_OR_RETURN(const Place cursor, ParseCursor(ask.params));

  const Search search(ask, filter, lanes, window, cursor, static_cast<size_t>(limit));
  std::vector<RankHits> hits(ask.view.ranks().size());
  ask.open.dataset->pool().ParallelFor(hits.size(),
                                       [&](size_t slot) { hits[slot] = search.Run(slot); });

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
