#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "server/api/handlers.h"
#include "server/timeline/busy.h"
#include "server/timeline/range_stats.h"

namespace steplens::server {
namespace {

// What the ranks that take part add up to, each computed by itself.
struct RankTotals {
  size_t slot = 0;
  std::vector<const LaneRows*> lanes{};
  int64_t covered_ns = 0;
  std::map<std::string_view, int64_t> parts{};  // by lane of the Overlap Analysis
};

void AddUp(RankTotals& rank, const Ask& ask, int64_t t0, int64_t t1) {
  const int64_t from_ns = AddSaturating(t0, ask.BaseNs(rank.slot));
  const int64_t to_ns = AddSaturating(t1, ask.BaseNs(rank.slot));
  rank.covered_ns = CoveredNs(rank.lanes, from_ns, to_ns);
  for (const auto& lane : ask.view.ranks()[rank.slot]->timeline->lanes()) {
    if (lane->kind == LaneKind::kSlices && (lane->flags & kOverlapLane) != 0)
      rank.parts[lane->name] += lane->cover.CoveredNs(lane->rows, from_ns, to_ns);
  }
}

// Covered time of the lanes, and how the time of their ranks' devices divides.
void WriteTotals(JsonWriter& json, const Ask& ask, const std::vector<const Lane*>& lanes,
                 int64_t t0, int64_t t1) {
  std::vector<RankTotals> ranks;
  std::vector<size_t> place(ask.view.ranks().size(), SIZE_MAX);  // by slot
  for (const Lane* lane : lanes) {
    size_t& at = place[lane->rank_slot];
    if (at == SIZE_MAX) {
      at = ranks.size();
      ranks.push_back({.slot = lane->rank_slot});
    }
    ranks[at].lanes.push_back(&lane->rows);
  }
  ask.open.dataset->pool().ParallelFor(ranks.size(),
                                       [&](size_t i) { AddUp(ranks[i], ask, t0, t1); });
  int64_t covered_ns = 0;
  std::map<std::string_view, int64_t> parts;
  for (const RankTotals& rank : ranks) {
    covered_ns = AddSaturating(covered_ns, rank.covered_ns);
    for (const auto& [name, ns] : rank.parts) parts[name] = AddSaturating(parts[name], ns);
  }
  json.Key("covered").Int(covered_ns).Key("range").Int(SubtractSaturating(t1, t0));
  if (parts.empty()) return;
  json.Key("computing").Int(parts["Computing"]);
  json.Key("communication").Int(parts["Communication"]);
  json.Key("not_overlapped").Int(parts["Communication(Not Overlapped)"]);
  json.Key("free").Int(parts["Free"]);
}

Result<RangeOptions> OptionsParam(const Ask& ask) {
  RangeOptions options;
  SL_ASSIGN_OR_RETURN(options.clip, ask.params.BoolOr("clip", false));
  SL_ASSIGN_OR_RETURN(const std::vector<int64_t> rows, ask.params.Ints("rows"));
  if (rows.empty()) return options;
  if (rows.size() != 2 || rows[0] < 0 || rows[1] < rows[0])
    return Error{ErrorCode::kInvalidArgument, "'rows' must be [first, last]"};
  options.first_row = static_cast<size_t>(rows[0]);
  options.last_row = static_cast<size_t>(rows[1]);
  return options;
}

void WriteStats(JsonWriter& json, const Ask& ask, std::vector<NameStats> stats) {
  int64_t total_ns = 0;
  int64_t count = 0;
  for (const NameStats& one : stats) {
    total_ns = AddSaturating(total_ns, one.wall_ns);
    count += one.count;
  }
  std::sort(stats.begin(), stats.end(), [&](const NameStats& a, const NameStats& b) {
    if (a.wall_ns != b.wall_ns) return a.wall_ns > b.wall_ns;
    return ask.view.names().Text(a.name) < ask.view.names().Text(b.name);
  });
  json.Key("rows").BeginArray();
  for (const NameStats& one : stats) {
    json.BeginArray().String(ask.view.names().Text(one.name)).Int(one.count).Int(one.wall_ns);
    json.Int(one.self_ns).Int(one.wall_ns / one.count).Int(one.min_ns).Int(one.max_ns);
    json.Int(one.p50_ns).Int(one.p90_ns).Int(one.p99_ns);
    json.Double(total_ns == 0 ? 0
                              : static_cast<double>(one.wall_ns) / static_cast<double>(total_ns));
    json.EndArray();
  }
  json.EndArray().Key("total").BeginObject().Key("sum").Int(total_ns).Key("count").Int(count);
}

}  // namespace

Result<Response> PostRange(const Ask& ask) {
  const auto started = std::chrono::steady_clock::now();
  SL_ASSIGN_OR_RETURN(const std::vector<const Lane*> lanes, SliceLanesParam(ask, "tracks", false));
  SL_ASSIGN_OR_RETURN(const int64_t t0, ask.params.Int("t0"));
  SL_ASSIGN_OR_RETURN(const int64_t t1, ask.params.Int("t1"));
  SL_ASSIGN_OR_RETURN(const std::string by, ask.params.TextOr("by", "name"));
  SL_ASSIGN_OR_RETURN(const RangeOptions options, OptionsParam(ask));
  if (t1 < t0) return Error{ErrorCode::kInvalidArgument, "'t1' lies before 't0'"};
  if (by != "name") return Error{ErrorCode::kInvalidArgument, "'by' must be name"};
  std::vector<RangeLane> parts;
  for (const Lane* lane : lanes)
    parts.push_back({&lane->rows, ask.FromShown(*lane, t0), ask.FromShown(*lane, t1)});
  JsonWriter json;
  json.BeginObject().Key("columns").BeginArray();
  for (const char* name :
       {"name", "count", "wall", "self", "avg", "min", "max", "p50", "p90", "p99", "share"})
    json.String(name);
  json.EndArray();
  WriteStats(json, ask,
             ComputeRangeStats(parts, options, ask.view.names().size(), ask.open.dataset->pool()));
  WriteTotals(json, ask, lanes, t0, t1);
  json.EndObject().Key("definition").String("insight.slice_list");
  const auto passed = std::chrono::steady_clock::now() - started;
  json.Key("elapsed_us")
      .Int(std::chrono::duration_cast<std::chrono::microseconds>(passed).count())
      .EndObject();
  return JsonResponse(std::move(json));
}

}  // namespace steplens::server
