#include "analysis/cluster/device_time.h"

#include <algorithm>

#include "analysis/classify/device_work.h"

namespace steplens::analysis::cluster {
namespace {

std::vector<Interval> CollectTimes(const store::TraceStore& rank, bool with_communication) {
  std::vector<Interval> times;
  for (const DeviceWork& work : CollectDeviceWork(rank)) {
    times.insert(times.end(), work.compute.begin(), work.compute.end());
    if (with_communication)
      times.insert(times.end(), work.communication.begin(), work.communication.end());
  }
  SortIntervals(times);
  return times;
}

}  // namespace

std::vector<Interval> ComputingTimes(const store::TraceStore& rank) {
  return CollectTimes(rank, false);
}

std::vector<Interval> BusyTimes(const store::TraceStore& rank) { return CollectTimes(rank, true); }

std::vector<Interval> UnionOf(std::vector<Interval> intervals) {
  SortIntervals(intervals);
  size_t kept = 0;
  for (const Interval& in : intervals) {
    if (in.begin_ns >= in.end_ns) continue;
    if (kept > 0 && in.begin_ns <= intervals[kept - 1].end_ns) {
      intervals[kept - 1].end_ns = std::max(intervals[kept - 1].end_ns, in.end_ns);
    } else {
      intervals[kept++] = in;
    }
  }
  intervals.resize(kept);
  return intervals;
}

}  // namespace steplens::analysis::cluster
