#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "server/api/handlers.h"
#include "server/snapshot_page.h"

namespace steplens::server {
namespace {

constexpr size_t kMaxBars = 250'000;    // about 12 MB of page
constexpr int64_t kBucketsARow = 4096;  // beyond it, what a wide screen can show

struct Bar {
  int64_t begin_ns;
  int64_t dur_ns;
  uint32_t slice;
  uint32_t count;
};

std::vector<Bar> ExactBars(const LaneRows& rows, size_t r, int64_t t0_ns, int64_t t1_ns) {
  const auto [lo, hi] = rows.Touching(r, t0_ns, t1_ns);
  std::vector<Bar> out;
  for (const uint32_t slice : rows.row(r).subspan(lo, hi - lo))
    out.push_back({rows.columns().begin(slice), rows.columns().dur(slice), slice, 1});
  return out;
}

std::vector<Bar> CoarseBars(const LaneRows& rows, size_t r, int64_t t0_ns, int64_t t1_ns) {
  uint32_t level = 0;
  while (((t1_ns - t0_ns) >> level) > kBucketsARow) ++level;
  std::vector<Bar> out;
  TileSpan span{t0_ns, level};
  for (; span.begin_ns < t1_ns; span.begin_ns = span.end_ns()) {
    for (const TileRun& run : ComputeRuns(rows, r, span)) {
      const int64_t begin_ns = span.edge_ns(run.x0);
      out.push_back({begin_ns, span.edge_ns(run.x1) - begin_ns, run.slice, run.count});
    }
  }
  return out;
}

size_t CountSlices(const Ask& ask, const std::vector<const Lane*>& lanes, int64_t t0, int64_t t1) {
  size_t count = 0;
  for (const Lane* lane : lanes) {
    for (size_t r = 0; r < lane->rows.rows(); ++r) {
      const auto [lo, hi] =
          lane->rows.Touching(r, ask.FromShown(*lane, t0), ask.FromShown(*lane, t1));
      count += hi - lo;
    }
  }
  return count;
}

}  // namespace

Result<Response> PostSnapshot(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const std::vector<const Lane*> lanes, SliceLanesParam(ask, "tracks", true));
  SL_ASSIGN_OR_RETURN(const int64_t t0, ask.params.IntOr("t0", 0));
  SL_ASSIGN_OR_RETURN(const int64_t t1, ask.params.IntOr("t1", ask.view.end_ns()));
  if (t1 <= t0 || t1 > int64_t{1} << 60 || t0 < -(int64_t{1} << 60))
    return Error{ErrorCode::kInvalidArgument, "'t1' must lie behind 't0'"};
  const bool is_exact = CountSlices(ask, lanes, t0, t1) <= kMaxBars;
  std::map<uint32_t, int64_t> numbers;  // name id -> place in names
  std::vector<uint32_t> names;
  size_t bars_left = kMaxBars;
  JsonWriter json;
  json.BeginObject().Key("title").String(fmt::format(
      "steplens: {}", ask.open.dataset->paths().empty() ? ask.open.dataset->id()
                                                        : ask.open.dataset->paths().front()));
  json.Key("t0").Int(t0).Key("t1").Int(t1).Key("lanes").BeginArray();
  for (const Lane* lane : lanes) {
    const int64_t from_ns = ask.FromShown(*lane, t0);
    const int64_t to_ns = ask.FromShown(*lane, t1);
    json.BeginObject().Key("name").String(LaneTitle(ask, *lane)).Key("rows").BeginArray();
    for (size_t r = 0; r < std::min<size_t>(lane->rows.rows(), 64); ++r) {
      const std::vector<Bar> bars = is_exact ? ExactBars(lane->rows, r, from_ns, to_ns)
                                             : CoarseBars(lane->rows, r, from_ns, to_ns);
      json.BeginArray();
      for (const Bar& bar : bars) {
        if (bars_left == 0) break;
        --bars_left;
        const uint32_t name = lane->rows.columns().name_of(bar.slice);
        const auto [at, is_new] = numbers.try_emplace(name, static_cast<int64_t>(names.size()));
        if (is_new) names.push_back(name);
        json.BeginArray().Int(ask.ToShown(*lane, bar.begin_ns)).Int(bar.dur_ns).Int(at->second);
        if (bar.count != 1) json.Int(bar.count);
        json.EndArray();
      }
      json.EndArray();
    }
    json.EndArray().EndObject();
  }
  json.EndArray().Key("names").BeginArray();
  for (const uint32_t name : names) json.String(ask.view.names().Text(name));
  json.EndArray().EndObject();
  Response response;
  response.content_type = "text/html; charset=utf-8";
  response.headers.emplace_back("Content-Disposition",
                                "attachment; filename=\"steplens-snapshot.html\"");
  response.body = SnapshotPage(json.text());
  return response;
}

}  // namespace steplens::server
