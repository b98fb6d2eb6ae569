#include "analysis/verify/points.h"

#include <algorithm>

namespace steplens::analysis::verify {

PointSet::PointSet(std::vector<Point> points) : points_(std::move(points)) {
  std::sort(points_.begin(), points_.end());
}

size_t PointSet::Count(Point point) const {
  const auto [first, last] = std::equal_range(points_.begin(), points_.end(), point);
  return static_cast<size_t>(last - first);
}

}  // namespace steplens::analysis::verify
