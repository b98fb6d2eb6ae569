#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace steplens::analysis {

// Half-open [begin_ns, end_ns) on one rank's device clock.
struct Interval {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  bool operator==(const Interval&) const = default;
};

// How one window of device time divides. The four parts are disjoint and
//   compute_only + comm_only + overlapped + free == window length.
struct OverlapParts {
  int64_t compute_only_ns = 0;
  int64_t comm_only_ns = 0;  // "Communication(Not Overlapped)" in step_trace_time.csv
  int64_t overlapped_ns = 0;
  int64_t free_ns = 0;
};

// Sweeps both lists once. Each must be sorted by begin_ns; intervals inside a list may overlap
// (several streams). Parts outside `window` do not count. O(n + m), no allocation.
OverlapParts ComputeOverlap(std::span<const Interval> compute, std::span<const Interval> comm,
                            Interval window);

// Time covered by at least one interval of a list sorted by begin_ns. O(n), no allocation.
int64_t UnionLength(std::span<const Interval> intervals);

// Orders by (begin_ns, end_ns), as the functions above need it. Linear if already in order.
void SortIntervals(std::vector<Interval>& intervals);

}  // namespace steplens::analysis
