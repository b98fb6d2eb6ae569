#pragma once

#include <cstdint>
#include <functional>
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

// Sweeps both lists once. Each must be sorted by begin_ns; intervals inside a list may overlap (several
// streams). Parts outside `window` do not count. O(n + m), no allocation.
OverlapParts ComputeOverlap(std::span<const Interval> compute, std::span<const Interval> comm,
                            Interval window);

// What the Overlap Analysis track of a trace shows: Computing, Communication, Communication(Not Overlapped), Free.
enum class PieceKind : uint8_t { kCompute, kComm, kCommOnly, kFree };

// Cuts the window into maximal pieces of each kind, with the inputs of ComputeOverlap. A piece is visited when it ends;
// pieces of one kind come in order. Compute, CommOnly and Free pieces together fill the window. O(n + m), no allocation.
void ForEachPiece(std::span<const Interval> compute, std::span<const Interval> comm,
                  Interval window, const std::function<void(PieceKind, Interval)>& visit);

// Time covered by at least one interval of a list sorted by begin_ns. O(n), no allocation.
int64_t UnionLength(std::span<const Interval> intervals);

// The same cover as disjoint intervals in order; touching intervals become one, empty ones vanish.
// The list must be sorted by begin_ns.
std::vector<Interval> MergeIntervals(std::span<const Interval> intervals);

// Orders by (begin_ns, end_ns), as the functions above need it. Linear if already in order.
void SortIntervals(std::vector<Interval>& intervals);

}  // namespace steplens::analysis
