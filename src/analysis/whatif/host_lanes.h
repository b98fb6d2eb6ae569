#pragma once

#include <cstdint>
#include <vector>

#include "analysis/facts/rank_view.h"
#include "analysis/overlap/overlap.h"
#include "analysis/whatif/step_graph.h"

namespace steplens::analysis {

// A stretch of a host thread: the innermost slice that runs there, or none between operators.
struct HostSegment {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  store::SliceId owner = store::kNoSlice;
};

struct HostLane {
  store::TrackId track = store::kNoTrack;  // the first of its tracks
  std::vector<HostSegment> segments;       // end to end, from the begin of the window
};

// The threads of a rank inside a window of time. The same thread may have two tracks (its
// operators, and its calls into CANN); they are one lane.
class HostLanes {
 public:
  HostLanes(const RankView& rank, Interval window);

  const std::vector<HostLane>& lanes() const { return lanes_; }
  // The thread that runs the training loop; kNoIndex if there is no thread at all.
  uint32_t main() const { return main_; }
  uint32_t LaneOf(store::TrackId track) const;  // kNoIndex if it is no thread

  // The segment of a lane that runs at the time: the last that begins by then. A lane has at least
  // one.
  uint32_t SegmentAt(uint32_t lane, int64_t ts_ns) const;
  // The segments of a slice inside the window.
  struct Range {
    uint32_t first = kNoIndex;
    uint32_t last = 0;  // before `first` if the slice takes no time
  };
  Range SegmentsOf(store::SliceId slice) const { return ranges_[static_cast<size_t>(slice)]; }

 private:
  void Flatten(const RankView& rank, const std::vector<store::SliceId>& slices, Interval window,
               HostLane& lane);
  void FindMain(const RankView& rank);

  std::vector<HostLane> lanes_;
  std::vector<uint32_t> lane_of_track_;
  std::vector<Range> ranges_;  // by slice
  uint32_t main_ = kNoIndex;
};

}  // namespace steplens::analysis
