#include "analysis/whatif/dependency_graph.h"

#include <algorithm>

#include "analysis/time_math.h"
#include "base/saturate.h"

namespace steplens::analysis {
namespace {

// Edges grouped by one of their ends: those of point p are in [first[p], first[p + 1]).
void GroupEdges(size_t points, const std::vector<uint32_t>& end, std::vector<uint32_t>& first,
                std::vector<uint32_t>& grouped) {
  first.assign(points + 1, 0);
  for (const uint32_t point : end) ++first[point + 1];
  for (size_t p = 0; p < points; ++p) first[p + 1] += first[p];
  std::vector<uint32_t> place(first.begin(), first.end() - 1);
  grouped.resize(end.size());
  for (uint32_t edge = 0; edge < end.size(); ++edge) grouped[place[end[edge]]++] = edge;
}

}  // namespace

DependencyGraph::DependencyGraph(size_t points, std::vector<uint32_t> from,
                                 std::vector<uint32_t> to)
    : from_(std::move(from)), to_(std::move(to)) {
  GroupEdges(points, to_, first_, into_);
  std::vector<uint32_t> out_first;
  std::vector<uint32_t> out;
  GroupEdges(points, from_, out_first, out);
  std::vector<uint32_t> missing(points);
  order_.reserve(points);
  for (uint32_t p = 0; p < points; ++p) {
    missing[p] = first_[p + 1] - first_[p];
    if (missing[p] == 0) order_.push_back(p);
  }
  for (size_t next = 0; next < order_.size(); ++next) {
    const uint32_t point = order_[next];
    for (uint32_t i = out_first[point]; i < out_first[point + 1]; ++i) {
      const uint32_t target = to_[out[i]];
      if (--missing[target] == 0) order_.push_back(target);
    }
  }
}

std::vector<bool> DependencyGraph::Reached() const {
  std::vector<bool> reached(points(), false);
  for (const uint32_t point : order_) reached[point] = true;
  return reached;
}

std::vector<int64_t> DependencyGraph::Earliest(std::span<const int64_t> weights) const {
  std::vector<int64_t> at(points(), 0);
  for (const uint32_t point : order_) {
    int64_t latest = kDropped;
    for (const uint32_t edge : into(point)) {
      if (weights[edge] == kDropped) continue;
      latest = std::max(latest, AddNs(at[from_[edge]], weights[edge]));
    }
    at[point] = latest == kDropped ? 0 : latest;
  }
  return at;
}

std::vector<int64_t> DependencyGraph::Latest(std::span<const int64_t> weights,
                                             std::vector<int64_t> latest) const {
  for (size_t i = order_.size(); i-- > 0;) {
    const uint32_t point = order_[i];
    if (latest[point] == kNoLimit) continue;
    for (const uint32_t edge : into(point)) {
      if (weights[edge] == kDropped) continue;
      int64_t& limit = latest[from_[edge]];
      limit = std::min(limit, SubtractSaturating(latest[point], weights[edge]));
    }
  }
  return latest;
}

}  // namespace steplens::analysis
