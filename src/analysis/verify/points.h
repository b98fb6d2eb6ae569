#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "store/tables.h"

namespace steplens::analysis::verify {

// Where and when: a point of the timeline. Slice starts and flow ends are compared as points.
struct Point {
  store::TrackId track;
  int64_t ns;
  auto operator<=>(const Point&) const = default;
};

// A set of points in which each may lie several times.
class PointSet {
 public:
  explicit PointSet(std::vector<Point> points);
  size_t Count(Point point) const;
  bool Has(Point point) const { return Count(point) > 0; }
  size_t size() const { return points_.size(); }

 private:
  std::vector<Point> points_;  // sorted
};

}  // namespace steplens::analysis::verify
