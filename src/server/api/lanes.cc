#include <fmt/format.h>

#include "server/api/handlers.h"

// Requests about lanes as a whole: merging them, and how busy they are.

namespace steplens::server {
namespace {

constexpr size_t kMaxLanes = 512;

Result<std::vector<const Lane*>> LanesParam(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const std::vector<int64_t> ids, ask.params.Ints("tracks"));
  if (ids.size() > kMaxLanes)
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("'tracks' may name at most {} tracks", kMaxLanes)};
  std::vector<const Lane*> out;
  for (const int64_t id : ids) {
    out.push_back(ask.view.FindLane(id));
    if (out.back() == nullptr)
      return Error{ErrorCode::kInvalidArgument, fmt::format("'tracks': there is no track {}", id)};
  }
  return out;
}

struct Load {
  uint64_t count = 0;
  int64_t busy_ns = 0;
  std::optional<double> peak{};  // of counters
  int64_t wait_ns = 0;           // of streams: only waits ran
};

Load LoadOfSlices(const Lane& lane, int64_t t0_ns, int64_t t1_ns) {
  Load load{lane.rows.CountTouching(t0_ns, t1_ns),
            lane.cover.CoveredNs(lane.busy_rows(), t0_ns, t1_ns)};
  if (lane.has_waits) load.wait_ns = lane.whole.CoveredNs(lane.rows, t0_ns, t1_ns) - load.busy_ns;
  return load;
}

Load LoadOf(const Lane& lane, int64_t t0_ns, int64_t t1_ns) {
  switch (lane.kind) {
    case LaneKind::kSlices:
      return LoadOfSlices(lane, t0_ns, t1_ns);
    case LaneKind::kCounter:
      return {lane.counter.LowerBound(t1_ns) - lane.counter.LowerBound(t0_ns), 0,
              lane.counter.Peak(t0_ns, t1_ns)};
    case LaneKind::kRank:
    case LaneKind::kGroup:
      return {lane.summary.CountTouching(t0_ns, t1_ns), lane.summary.CoveredNs(t0_ns, t1_ns), {}};
  }
  return {};
}

}  // namespace

Result<Response> PostMerge(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(std::vector<const Lane*> lanes, LanesParam(ask));
  SL_ASSIGN_OR_RETURN(const Lane* lane, ask.view.Merge(std::move(lanes)));
  JsonWriter json;
  json.BeginObject().Key("track").Int(lane->id).Key("name").String(lane->name);
  json.Key("path").String(lane->path).Key("rank").Int(ask.view.RankOf(*lane).rank);
  json.Key("dev").Int(lane->device).Key("rows").Int(static_cast<int64_t>(lane->rows.rows()));
  json.Key("n").Int(static_cast<int64_t>(lane->count)).Key("flags").Int(lane->flags);
  json.Key("tracks").BeginArray();
  for (const uint32_t part : lane->parts) json.Int(part);
  json.EndArray().EndObject();
  return JsonResponse(std::move(json));
}

Result<Response> PostLanes(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const std::vector<const Lane*> lanes, LanesParam(ask));
  SL_ASSIGN_OR_RETURN(const int64_t t0, ask.params.Int("t0"));
  SL_ASSIGN_OR_RETURN(const int64_t t1, ask.params.Int("t1"));
  if (t1 < t0) return Error{ErrorCode::kInvalidArgument, "'t1' lies before 't0'"};
  JsonWriter json;
  json.BeginObject().Key("rows").BeginArray();
  for (const Lane* lane : lanes) {
    const Load load = LoadOf(*lane, ask.FromShown(*lane, t0), ask.FromShown(*lane, t1));
    json.BeginArray().Int(lane->id).Int(static_cast<int64_t>(load.count)).Int(load.busy_ns);
    if (load.peak) json.Double(*load.peak);
    if (load.wait_ns > 0) json.Null().Int(load.wait_ns);
    json.EndArray();
  }
  json.EndArray().EndObject();
  return JsonResponse(std::move(json));
}

}  // namespace steplens::server
