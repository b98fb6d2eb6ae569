#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace steplens::analysis {

// Points in time, and edges that say how long after one point another comes at the earliest:
//   at[to] = max over the edges into `to` of at[from] + weight
// A point without an edge into it is at 0. Who owns the graph owns the meaning and the weights, so
// that the same graph can be replayed with other weights.
//
//   const DependencyGraph graph(points, from, to);
//   const std::vector<int64_t> at = graph.Earliest(weights);
class DependencyGraph {
 public:
  // The weight of an edge that does not count.
  static constexpr int64_t kDropped = std::numeric_limits<int64_t>::min();

  DependencyGraph() = default;
  // Edge i leads from from[i] to to[i]. O(points + edges).
  DependencyGraph(size_t points, std::vector<uint32_t> from, std::vector<uint32_t> to);

  size_t points() const { return first_.empty() ? 0 : first_.size() - 1; }
  size_t edges() const { return from_.size(); }
  uint32_t from(size_t edge) const { return from_[edge]; }
  uint32_t to(size_t edge) const { return to_[edge]; }
  // The edges into a point.
  std::span<const uint32_t> into(uint32_t point) const {
    return std::span(into_).subspan(first_[point], first_[point + 1] - first_[point]);
  }

  // False if edges run in a circle: the points on it, and those behind it, have no time.
  bool is_acyclic() const { return order_.size() == points(); }
  // By point: whether it has a time.
  std::vector<bool> Reached() const;

  // By point, for an acyclic graph. Sums stop at the ends of int64. O(points + edges).
  std::vector<int64_t> Earliest(std::span<const int64_t> weights) const;
  // By point: how late it may come without `latest` of any point being exceeded. `latest` holds the
  // limits: the time a point must not exceed, or kNoLimit. O(points + edges).
  static constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> Latest(std::span<const int64_t> weights, std::vector<int64_t> latest) const;

 private:
  std::vector<uint32_t> from_;
  std::vector<uint32_t> to_;
  std::vector<uint32_t> into_;   // edges by the point they lead to
  std::vector<uint32_t> first_;  // point p owns into_[first_[p], first_[p + 1])
  std::vector<uint32_t> order_;  // points, each after those it depends on
};

}  // namespace steplens::analysis
