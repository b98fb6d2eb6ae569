#pragma once

#include <cstdint>
#include <vector>

#include "analysis/overlap/overlap.h"
#include "store/trace_store.h"

namespace steplens::analysis {

// The Overlap Analysis lanes of one device. Each lane is in order of begin.
struct OverlapLanes {
  int64_t device = store::kNone;
  bool is_delivered = false;  // as the capture has them; otherwise derived here
  std::vector<Interval> computing;
  std::vector<Interval> communication;
  std::vector<Interval> not_overlapped;  // Communication(Not Overlapped)
  std::vector<Interval> memory;          // GPU copies that overlap neither; empty on Ascend
  std::vector<Interval> free;

  // Computing, not overlapped communication, memory and free together.
  int64_t TotalNs() const;
};

// The lanes of a rank, one entry a device, by device id; none if nothing ran. A capture's own lanes
// are taken as they are. Otherwise: Computing and Communication are the unions of what
// CollectDeviceWork finds, Free is what neither covers from the first to the last task of the
// device. Derived computing, not overlapped, memory and free lanes never overlap and fill that
// range. O(n log n).
std::vector<OverlapLanes> ComputeOverlapLanes(const store::TraceStore& store);

// Sum of lengths.
int64_t TotalLength(const std::vector<Interval>& intervals);

}  // namespace steplens::analysis
