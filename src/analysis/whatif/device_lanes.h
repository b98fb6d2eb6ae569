#pragma once

#include <cstdint>
#include <vector>

#include "analysis/facts/rank_view.h"
#include "analysis/whatif/step_graph.h"

namespace steplens::analysis {

// Work on the device, and who launched it.
struct DeviceTask {
  NodeKind kind = NodeKind::kCompute;
  store::TrackId track = store::kNoTrack;  // its lane: a stream, or a group's track
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  store::SliceId slice = store::kNoSlice;
  uint32_t comm_op = kNoIndex;
  store::SliceId call = store::kNoSlice;        // the API call that launched it
  store::TrackId host_track = store::kNoTrack;  // where and when the host asked for it
  int64_t host_ns = store::kNone;
};

// The device work of a rank inside a window, by lane and begin. A collective is one task, whatever
// it consists of. Work that the host launched after the window's end belongs to the next step.
std::vector<DeviceTask> CollectDeviceTasks(const RankView& rank, const GraphWindow& window);

}  // namespace steplens::analysis
