#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/classify/classify.h"
#include "analysis/overlap/overlap.h"
#include "store/trace_store.h"

namespace steplens::analysis {

// When calls were recorded into a graph instead of being carried out: from the begin of a
// StreamBeginCapture to the end of its StreamEndCapture, by start; captures that overlap are one.
std::vector<Interval> GraphCaptureTimes(const store::TraceStore& store, const SliceKinds& kinds);

// Which call recorded the work of a replayed graph, for GPU traces that hold the capture as well.
//
// A trace names no node of a graph, but it shows the order: a capture is a sequence of launches,
// copies and memsets without work of their own, and a replay that runs one piece of work after the
// other is the same sequence. The n-th piece belongs to the n-th call where that leaves no doubt:
// one capture of the trace has the replay's kinds of work in its order, the replay comes after it,
// and all replays with these kinds run the same kernels. Else nothing is said, and the work belongs
// to the call that replays the graph.
class GraphRecords {
 public:
  // O(n log n) for traces that hold a capture, else one look at each text of the store.
  GraphRecords(const store::TraceStore& store, const SliceKinds& kinds,
               const std::vector<store::SliceId>& launch_of);

  // The call inside the capture that recorded this device slice; kNoSlice if that is not known.
  store::SliceId CallOf(store::SliceId device) const {
    const auto found = calls_.find(static_cast<uint32_t>(device));
    return found == calls_.end() ? store::kNoSlice : found->second;
  }

 private:
  std::unordered_map<uint32_t, store::SliceId> calls_;  // by device slice
};

}  // namespace steplens::analysis
