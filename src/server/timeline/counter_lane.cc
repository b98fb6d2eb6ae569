#include "server/timeline/counter_lane.h"

#include <algorithm>

namespace steplens::server {
namespace {

struct Point {
  uint16_t x;
  float min;
  float max;
  float last;
};

std::vector<Point> PointsOf(const CounterLane& lane, const TileSpan& span) {
  std::vector<Point> points;
  size_t position = lane.LowerBound(span.begin_ns);
  if (position > 0) {
    const auto held = static_cast<float>(lane.value(position - 1));
    points.push_back({0, held, held, held});
  }
  bool first_is_held = position > 0;
  for (; position < lane.size() && lane.ts_ns(position) < span.end_ns(); ++position) {
    const auto x = static_cast<uint16_t>((lane.ts_ns(position) - span.begin_ns) >> span.level);
    const auto value = static_cast<float>(lane.value(position));
    if (points.empty() || points.back().x != x || (first_is_held && x == 0)) {
      if (first_is_held && x == 0) points.clear();
      points.push_back({x, value, value, value});
      first_is_held = false;
      continue;
    }
    Point& point = points.back();
    point.min = std::min(point.min, value);
    point.max = std::max(point.max, value);
    point.last = value;
  }
  return points;
}

}  // namespace

CounterLane::CounterLane(const Values& values, std::vector<uint32_t> rows)
    : values_(values), rows_(std::move(rows)) {
  const auto earlier = [&](uint32_t a, uint32_t b) { return values_.ts_ns[a] < values_.ts_ns[b]; };
  if (!std::is_sorted(rows_.begin(), rows_.end(), earlier))
    std::stable_sort(rows_.begin(), rows_.end(), earlier);
}

size_t CounterLane::LowerBound(int64_t t_ns) const {
  const auto at = std::partition_point(rows_.begin(), rows_.end(),
                                       [&](uint32_t row) { return values_.ts_ns[row] < t_ns; });
  return static_cast<size_t>(at - rows_.begin());
}

std::optional<double> CounterLane::Peak(int64_t t0_ns, int64_t t1_ns) const {
  size_t position = LowerBound(t0_ns);
  if (position > 0) --position;  // holds when the range begins
  std::optional<double> peak;
  for (; position < size() && ts_ns(position) < t1_ns; ++position) {
    peak = std::max(peak.value_or(value(position)), value(position));
  }
  return peak;
}

void AppendCounterTile(std::string& out, const TileKey& key, const CounterLane& lane,
                       int64_t base_ns) {
  const std::vector<Point> points = PointsOf(lane, SpanOf(key, base_ns));
  if (points.empty()) return AppendBareTile(out, key, TileKind::kEmpty);
  TileWriter writer(out, key, TileKind::kCounter);
  writer.Value(uint16_t{1});
  writer.Value(uint16_t{0});
  writer.Value(static_cast<uint32_t>(points.size()));
  for (const Point& point : points) writer.Value(point.x);
  writer.Align();
  for (const Point& point : points) writer.Value(point.min);
  for (const Point& point : points) writer.Value(point.max);
  for (const Point& point : points) writer.Value(point.last);
  writer.Finish();
}

}  // namespace steplens::server
