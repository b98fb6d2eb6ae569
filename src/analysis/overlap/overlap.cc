#include "analysis/overlap/overlap.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "analysis/overlap/sweep.h"

namespace steplens::analysis {
OverlapParts ComputeOverlap(std::span<const Interval> compute, std::span<const Interval> comm,
                            Interval window) {
  OverlapParts parts;
  UnionEdges a(compute, window);
  UnionEdges b(comm, window);
  int64_t now = window.begin_ns;
  while (now < window.end_ns) {
    const int64_t next = std::min({a.next(), b.next(), window.end_ns});
    int64_t& part = a.inside() ? (b.inside() ? parts.overlapped_ns : parts.compute_only_ns)
                               : (b.inside() ? parts.comm_only_ns : parts.free_ns);
    part += next - now;
    now = next;
    if (a.next() == now) a.Step();
    if (b.next() == now) b.Step();
  }
  return parts;
}

int64_t UnionLength(std::span<const Interval> intervals) {
  int64_t length_ns = 0;
  int64_t covered_to_ns = std::numeric_limits<int64_t>::min();
  for (const Interval& in : intervals) {
    const int64_t begin_ns = std::max(in.begin_ns, covered_to_ns);
    if (in.end_ns <= begin_ns) continue;
    length_ns += in.end_ns - begin_ns;
    covered_to_ns = in.end_ns;
  }
  return length_ns;
}

namespace {

bool IsBefore(const Interval& a, const Interval& b) {
  return std::tie(a.begin_ns, a.end_ns) < std::tie(b.begin_ns, b.end_ns);
}

// By insertion, as long as no interval is far from its place; what several streams did, in the
// order in which it was written, is like that. False: given up, in some order.
bool SortNearlySorted(std::vector<Interval>& intervals) {
  constexpr size_t kFar = 16;
  for (size_t i = 1; i < intervals.size(); ++i) {
    if (!IsBefore(intervals[i], intervals[i - 1])) continue;
    const Interval moved = intervals[i];
    const size_t last = i > kFar ? i - kFar : 0;
    size_t to = i;
    do {
      intervals[to] = intervals[to - 1];
      --to;
    } while (to > last && IsBefore(moved, intervals[to - 1]));
    intervals[to] = moved;
    if (to > 0 && IsBefore(moved, intervals[to - 1])) return false;
  }
  return true;
}

}  // namespace

void SortIntervals(std::vector<Interval>& intervals) {
  if (!SortNearlySorted(intervals)) std::sort(intervals.begin(), intervals.end(), IsBefore);
}

}  // namespace steplens::analysis
