#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/viewer/scope.h"
#include "store/trace_store.h"

namespace steplens::analysis::viewer {

// A track of one of the job's ranks.
struct TrackRef {
  uint32_t rank_index = 0;  // in job.ranks
  store::TrackId track = store::kNoTrack;
};

// How slices with the same stack become a node: all of them, or only those that follow each other.
enum class FlameOrder : uint8_t { kMerged, kTime };

// A stack of names. Self time is what no child covers; where children do not overlap each other the
// total is self time and their totals. Times are clipped to the range.
struct FlameNode {
  uint32_t parent = store::kNoId;  // index of another node, always a smaller one; kNoId for roots
  std::string name;
  int64_t total_ns = 0;
  int64_t self_ns = 0;
  int64_t count = 0;
  int64_t begin_ns = 0;  // of its first slice, and the end of its last; clipped, too
  int64_t end_ns = 0;
  store::TrackId track = store::kNoTrack;  // of its first slice; in order of time, of all
};

// The slices of the tracks as one flame graph, by nesting. Slices that only partly overlap another
// are siblings of it. Nodes in order of their first slice. O(n log n) in the slices of the ranks.
// In order of time slices shorter than `least_ns` that follow each other are one node "…".
std::vector<FlameNode> BuildFlame(const store::Job& job, std::span<const TrackRef> tracks,
                                  const TimeRange& range, FlameOrder order = FlameOrder::kMerged,
                                  int64_t least_ns = 0);

}  // namespace steplens::analysis::viewer
