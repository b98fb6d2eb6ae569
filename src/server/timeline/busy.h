#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/overlap/overlap.h"
#include "server/timeline/lane_rows.h"

namespace steplens::server {

// Walks the times at which at least one slice of several lanes runs, as disjoint intervals by time.
// Slices that begin while others still run and end before them are stepped over in strides, so the
// cost is that of what stands out: O(k log rows) at worst for k slices. Lanes outlive it.
class BusySweep {
 public:
  // Slices that touch [t0_ns, t1_ns).
  BusySweep(const std::vector<const LaneRows*>& lanes, int64_t t0_ns, int64_t t1_ns);
  // The next interval, not clipped to the range; false behind the last.
  bool Next(analysis::Interval& out);

 private:
  // Where the walk is in one row.
  struct Cursor {
    const SliceColumns* columns;
    std::span<const uint32_t> slices;  // those that touch the range
    size_t at;
    int64_t end(size_t position) const { return columns->end(slices[position]); }
  };
  struct Entry {
    int64_t begin_ns;
    uint32_t cursor;
  };
  int64_t FirstEnd() const;
  void StepFirst(int64_t reach_ns);
  void Sink(Entry entry);

  std::vector<Cursor> cursors_;
  std::vector<Entry> heap_;  // the earliest begin first
};

// The time inside [t0_ns, t1_ns) in which at least one slice of the lanes runs.
int64_t CoveredNs(const std::vector<const LaneRows*>& lanes, int64_t t0_ns, int64_t t1_ns);

// Covered time of one lane in any range, without a walk over its slices: what was covered before
// every 1024th slice of row 0 is kept. (Whatever runs began with a slice of row 0 or beside one.)
class LaneCover {
 public:
  LaneCover() = default;
  explicit LaneCover(const LaneRows& lane);  // O(n)
  // `lane` is the one it was made of.
  int64_t CoveredNs(const LaneRows& lane, int64_t t0_ns, int64_t t1_ns) const;
  size_t bytes() const { return before_ns_.capacity() * sizeof(int64_t); }

 private:
  static constexpr size_t kStride = 1024;
  int64_t BeforeNs(const LaneRows& lane, int64_t t_ns) const;
  std::vector<int64_t> before_ns_;  // by position / kStride
};

}  // namespace steplens::server
