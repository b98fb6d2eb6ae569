#include "server/timeline/flow_index.h"

#include <algorithm>

namespace steplens::server {

FlowIndex::FlowIndex(const store::TraceStore& store) {
  const size_t tracks = store.tracks.size();
  const auto& flows = store.flows;
  first_.assign(tracks + 1, 0);
  const auto for_each_end = [&](auto&& visit) {
    for (uint32_t i = 0; i < flows.size(); ++i) {
      if (static_cast<size_t>(flows.from_track[i]) < tracks)
        visit(static_cast<size_t>(flows.from_track[i]), i << 1);
      if (static_cast<size_t>(flows.to_track[i]) < tracks)
        visit(static_cast<size_t>(flows.to_track[i]), i << 1 | 1);
    }
  };
  for_each_end([&](size_t track, uint32_t) { ++first_[track + 1]; });
  for (size_t t = 1; t < first_.size(); ++t) first_[t] += first_[t - 1];
  std::vector<uint32_t> next(first_.begin(), first_.end());
  ends_.resize(first_.back());
  for_each_end([&](size_t track, uint32_t end) { ends_[next[track]++] = end; });
  const auto earlier = [&](uint32_t a, uint32_t b) { return TimeOf(store, a) < TimeOf(store, b); };
  for (size_t t = 0; t < tracks; ++t) {
    const auto begin = ends_.begin() + static_cast<ptrdiff_t>(first_[t]);
    const auto end = ends_.begin() + static_cast<ptrdiff_t>(first_[t + 1]);
    if (!std::is_sorted(begin, end, earlier)) std::stable_sort(begin, end, earlier);
  }
}

int64_t FlowIndex::TimeOf(const store::TraceStore& store, uint32_t packed) {
  const uint32_t flow = packed >> 1;
  return (packed & 1) != 0 ? store.flows.to_ns[flow] : store.flows.from_ns[flow];
}

std::pair<size_t, size_t> FlowIndex::Between(const store::TraceStore& store, store::TrackId track,
                                             int64_t from_ns, int64_t to_ns) const {
  const std::span<const uint32_t> ends = Of(track);
  const auto first = std::partition_point(
      ends.begin(), ends.end(), [&](uint32_t end) { return TimeOf(store, end) < from_ns; });
  const auto last = std::partition_point(first, ends.end(),
                                         [&](uint32_t end) { return TimeOf(store, end) <= to_ns; });
  return {static_cast<size_t>(first - ends.begin()), static_cast<size_t>(last - ends.begin())};
}

uint32_t SliceAtFlowEnd(const LaneRows& rows, int64_t t_ns, bool is_target) {
  const SliceColumns& columns = rows.columns();
  uint32_t exact = store::kNoId;
  uint32_t inside = store::kNoId;
  uint32_t following = store::kNoId;
  for (size_t r = 0; r < rows.rows(); ++r) {
    const auto slices = rows.row(r);
    auto at = std::partition_point(slices.begin(), slices.end(),
                                   [&](uint32_t slice) { return columns.begin(slice) < t_ns; });
    if (at != slices.end() && columns.begin(*at) == t_ns) {
      // Of slices that begin together and follow each other in a row, the last has a duration.
      while (at + 1 != slices.end() && columns.begin(*(at + 1)) == t_ns) ++at;
      exact = *at;
    }
    if (at != slices.end() &&
        (following == store::kNoId || columns.begin(*at) < columns.begin(following)))
      following = *at;
    if (at != slices.begin() && columns.end(*(at - 1)) >= t_ns) inside = *(at - 1);
  }
  if (exact != store::kNoId) return exact;
  if (inside != store::kNoId) return inside;
  return is_target ? following : store::kNoId;
}

void MarkFlowSlices(const store::TraceStore& store, const FlowIndex& index, store::TrackId track,
                    const LaneRows& rows, std::vector<bool>& has_flow) {
  struct Point {
    int64_t t_ns;
    bool is_target;
    uint32_t slice = store::kNoId;
  };
  std::vector<Point> points(index.count(track));
  for (size_t i = 0; i < points.size(); ++i) {
    const FlowIndex::End end = index.end(track, i);
    points[i] = {end.is_target ? store.flows.to_ns[end.flow] : store.flows.from_ns[end.flow],
                 end.is_target};
  }
  // Nearly all arrows begin and end where a slice begins: one walk a row, deeper rows win.
  const SliceColumns& columns = rows.columns();
  for (size_t r = 0; r < rows.rows() && !points.empty(); ++r) {
    auto at = points.begin();
    for (const uint32_t slice : rows.row(r)) {
      const int64_t begin_ns = columns.begin(slice);
      size_t step = 1;
      auto limit = at;
      while (limit != points.end() && limit->t_ns < begin_ns) {
        at = limit;
        limit += static_cast<ptrdiff_t>(std::min(step, static_cast<size_t>(points.end() - limit)));
        step *= 2;
      }
      at = std::partition_point(at, limit, [&](const Point& p) { return p.t_ns < begin_ns; });
      for (auto same = at; same != points.end() && same->t_ns == begin_ns; ++same)
        same->slice = slice;
      if (at == points.end()) break;
    }
  }
  for (const Point& point : points) {
    const uint32_t slice = point.slice != store::kNoId
                               ? point.slice
                               : SliceAtFlowEnd(rows, point.t_ns, point.is_target);
    if (slice < has_flow.size()) has_flow[slice] = true;
  }
}

}  // namespace steplens::server
