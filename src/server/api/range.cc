#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "server/api/handlers.h"
#include "server/percentiles.h"

namespace steplens::server {
namespace {

struct NameStats {
  uint32_t name = 0;
  int64_t count = 0;
  int64_t wall_ns = 0;
  int64_t self_ns = 0;
  int64_t min_ns = INT64_MAX;
  int64_t max_ns = 0;
};

struct RowRange {
  size_t first = 0;
  size_t last = SIZE_MAX;  // inclusive
};

// Members are the slices that touch the range, its edges included. Without clipping they count with
// their full durations, as in the reference.
class RangeStats {
 public:
  RangeStats(size_t name_count, bool clip) : slot_of_name_(name_count, UINT32_MAX), clip_(clip) {}

  void AddLane(const LaneRows& lane, int64_t t0_ns, int64_t t1_ns, RowRange wanted) {
    for (size_t r = wanted.first; r < lane.rows() && r <= wanted.last; ++r)
      AddRow(lane, r, t0_ns, t1_ns);
  }

  void Merge(const RangeStats& other) {
    std::vector<uint32_t> slots;
    for (const NameStats& one : other.stats_) {
      slots.push_back(SlotOf(one.name));
      NameStats& stats = stats_[slots.back()];
      stats.count += one.count;
      stats.wall_ns = AddSaturating(stats.wall_ns, one.wall_ns);
      stats.self_ns = AddSaturating(stats.self_ns, one.self_ns);
      stats.min_ns = std::min(stats.min_ns, one.min_ns);
      stats.max_ns = std::max(stats.max_ns, one.max_ns);
    }
    members_.reserve(members_.size() + other.members_.size());
    for (const Member& member : other.members_)
      members_.push_back({slots[member.slot], member.dur_ns});
  }

  std::vector<NameStats>& stats() { return stats_; }
  size_t size() const { return members_.size(); }

  // Durations of each name, one behind the other in the order of stats().
  std::vector<std::vector<int64_t>> Durations() const {
    std::vector<std::vector<int64_t>> out(stats_.size());
    for (size_t i = 0; i < out.size(); ++i) out[i].reserve(static_cast<size_t>(stats_[i].count));
    for (const Member& member : members_) out[member.slot].push_back(member.dur_ns);
    return out;
  }

 private:
  struct Member {
    uint32_t slot;
    int64_t dur_ns;
  };

  void AddRow(const LaneRows& lane, size_t r, int64_t t0_ns, int64_t t1_ns) {
    const SliceColumns& columns = lane.columns();
    const auto slices = lane.row(r);
    const auto first = std::partition_point(
        slices.begin(), slices.end(), [&](uint32_t slice) { return columns.end(slice) < t0_ns; });
    const auto last = std::partition_point(
        first, slices.end(), [&](uint32_t slice) { return columns.begin(slice) <= t1_ns; });
    const auto below = r + 1 < lane.rows() ? lane.row(r + 1) : std::span<const uint32_t>();
    size_t child = 0;
    if (first != last) {
      child = static_cast<size_t>(std::partition_point(below.begin(), below.end(),
                                                       [&](uint32_t slice) {
                                                         return columns.begin(slice) <
                                                                columns.begin(*first);
                                                       }) -
                                  below.begin());
    }
    const auto length = [&](uint32_t slice) {
      if (!clip_) return columns.dur_ns[slice];
      return std::max<int64_t>(
          0, std::min(columns.end(slice), t1_ns) - std::max(columns.begin(slice), t0_ns));
    };
    for (auto at = first; at != last; ++at) {
      const int64_t begin_ns = columns.begin(*at);
      const int64_t end_ns = columns.end(*at);
      const int64_t dur_ns = length(*at);
      int64_t inside_ns = 0;
      while (child < below.size() && columns.begin(below[child]) < begin_ns) ++child;
      for (; child < below.size() && columns.end(below[child]) <= end_ns; ++child)
        inside_ns = AddSaturating(inside_ns, length(below[child]));
      Add(columns.name_of(*at), dur_ns, std::max<int64_t>(0, dur_ns - inside_ns));
    }
  }

  uint32_t SlotOf(uint32_t name) {
    uint32_t& slot = slot_of_name_[name];
    if (slot == UINT32_MAX) {
      slot = static_cast<uint32_t>(stats_.size());
      stats_.push_back({name});
    }
    return slot;
  }

  void Add(uint32_t name, int64_t dur_ns, int64_t self_ns) {
    const uint32_t slot = SlotOf(name);
    NameStats& stats = stats_[slot];
    ++stats.count;
    stats.wall_ns = AddSaturating(stats.wall_ns, dur_ns);
    stats.self_ns = AddSaturating(stats.self_ns, self_ns);
    stats.min_ns = std::min(stats.min_ns, dur_ns);
    stats.max_ns = std::max(stats.max_ns, dur_ns);
    members_.push_back({slot, dur_ns});
  }

  std::vector<uint32_t> slot_of_name_;
  std::vector<NameStats> stats_;
  std::vector<Member> members_;
  bool clip_;
};

int64_t ClippedSum(const LaneRows& lane, int64_t t0_ns, int64_t t1_ns) {
  int64_t sum_ns = 0;
  for (const analysis::Interval& busy : BusyIntervals({&lane}, t0_ns, t1_ns))
    sum_ns += SharedNs(busy.begin_ns, busy.end_ns, t0_ns, t1_ns);
  return sum_ns;
}

// Of the ranks that take part: covered time of the lanes, and how the device's time divides.
void WriteTotals(JsonWriter& json, const Ask& ask, const std::vector<const Lane*>& lanes,
                 int64_t t0, int64_t t1) {
  std::map<size_t, std::vector<const LaneRows*>> by_rank;
  for (const Lane* lane : lanes) by_rank[lane->rank_slot].push_back(&lane->rows);
  int64_t covered_ns = 0;
  std::map<std::string_view, int64_t> parts;
  for (const auto& [slot, rows] : by_rank) {
    const int64_t from_ns = AddSaturating(t0, ask.BaseNs(slot));
    const int64_t to_ns = AddSaturating(t1, ask.BaseNs(slot));
    for (const analysis::Interval& busy : BusyIntervals(rows, from_ns, to_ns)) {
      covered_ns += SharedNs(busy.begin_ns, busy.end_ns, from_ns, to_ns);
    }
    for (const auto& lane : ask.view.ranks()[slot]->timeline->lanes()) {
      if (lane->kind == LaneKind::kSlices && (lane->flags & kOverlapLane) != 0)
        parts[lane->name] += ClippedSum(lane->rows, from_ns, to_ns);
    }
  }
  json.Key("covered").Int(covered_ns).Key("range").Int(SubtractSaturating(t1, t0));
  if (parts.empty()) return;
  json.Key("computing").Int(parts["Computing"]);
  json.Key("communication").Int(parts["Communication"]);
  json.Key("not_overlapped").Int(parts["Communication(Not Overlapped)"]);
  json.Key("free").Int(parts["Free"]);
}

Result<RowRange> RowsParam(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const std::vector<int64_t> rows, ask.params.Ints("rows"));
  if (rows.empty()) return RowRange{};
  if (rows.size() != 2 || rows[0] < 0 || rows[1] < rows[0])
    return Error{ErrorCode::kInvalidArgument, "'rows' must be [first, last]"};
  return RowRange{static_cast<size_t>(rows[0]), static_cast<size_t>(rows[1])};
}

void WriteStats(JsonWriter& json, const Ask& ask, RangeStats& range) {
  const std::vector<NameStats>& stats = range.stats();
  std::vector<std::vector<int64_t>> durations = range.Durations();
  int64_t total_ns = 0;
  for (const NameStats& one : stats) total_ns = AddSaturating(total_ns, one.wall_ns);
  std::vector<size_t> order(stats.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (stats[a].wall_ns != stats[b].wall_ns) return stats[a].wall_ns > stats[b].wall_ns;
    return ask.view.names().Text(stats[a].name) < ask.view.names().Text(stats[b].name);
  });
  json.Key("rows").BeginArray();
  for (const size_t i : order) {
    const NameStats& one = stats[i];
    json.BeginArray().String(ask.view.names().Text(one.name)).Int(one.count).Int(one.wall_ns);
    json.Int(one.self_ns).Int(one.wall_ns / one.count).Int(one.min_ns).Int(one.max_ns);
    const Percentiles spread = PercentilesOf(durations[i]);
    json.Int(spread.p50).Int(spread.p90).Int(spread.p99);
    json.Double(total_ns == 0 ? 0
                              : static_cast<double>(one.wall_ns) / static_cast<double>(total_ns));
    json.EndArray();
  }
  json.EndArray().Key("total").BeginObject().Key("sum").Int(total_ns);
  json.Key("count").Int(static_cast<int64_t>(range.size()));
}

}  // namespace

Result<Response> PostRange(const Ask& ask) {
  const auto started = std::chrono::steady_clock::now();
  SL_ASSIGN_OR_RETURN(const std::vector<const Lane*> lanes, SliceLanesParam(ask, "tracks", false));
  SL_ASSIGN_OR_RETURN(const int64_t t0, ask.params.Int("t0"));
  SL_ASSIGN_OR_RETURN(const int64_t t1, ask.params.Int("t1"));
  SL_ASSIGN_OR_RETURN(const bool clip, ask.params.BoolOr("clip", false));
  SL_ASSIGN_OR_RETURN(const std::string by, ask.params.TextOr("by", "name"));
  SL_ASSIGN_OR_RETURN(const RowRange rows, RowsParam(ask));
  if (t1 < t0) return Error{ErrorCode::kInvalidArgument, "'t1' lies before 't0'"};
  if (by != "name") return Error{ErrorCode::kInvalidArgument, "'by' must be name"};
  // Each thread takes every n-th lane; what is added up does not depend on n.
  ThreadPool& pool = ask.open.dataset->pool();
  const size_t parts = std::max<size_t>(1, std::min(pool.threads(), lanes.size()));
  std::vector<RangeStats> ranges(parts, RangeStats(ask.view.names().size(), clip));
  pool.ParallelFor(parts, [&](size_t part) {
    for (size_t i = part; i < lanes.size(); i += parts) {
      const Lane& lane = *lanes[i];
      ranges[part].AddLane(lane.rows, ask.FromShown(lane, t0), ask.FromShown(lane, t1), rows);
    }
  });
  RangeStats& range = ranges.front();
  for (size_t part = 1; part < parts; ++part) range.Merge(ranges[part]);
  JsonWriter json;
  json.BeginObject().Key("columns").BeginArray();
  for (const char* name :
       {"name", "count", "wall", "self", "avg", "min", "max", "p50", "p90", "p99", "share"})
    json.String(name);
  json.EndArray();
  WriteStats(json, ask, range);
  WriteTotals(json, ask, lanes, t0, t1);
  json.EndObject().Key("definition").String("insight.slice_list");
  const auto passed = std::chrono::steady_clock::now() - started;
  json.Key("elapsed_us")
      .Int(std::chrono::duration_cast<std::chrono::microseconds>(passed).count())
      .EndObject();
  return JsonResponse(std::move(json));
}

}  // namespace steplens::server
