#pragma once

#include <cstdint>
#include <vector>

#include "readers/ascend_db/tracks.h"
#include "readers/prof/device_records.h"
#include "readers/prof/prof_clock.h"
#include "store/trace_store.h"

namespace steplens::readers::prof {

// A span inside an iteration.
struct StepSpan {
  uint64_t begin = 0;
  uint64_t end = 0;  // 0: it did not end
};

// One iteration of a graph that runs as a whole on the device.
struct Iteration {
  uint64_t model = 0;
  int64_t index = 0;
  uint64_t begin = 0;
  uint64_t end = 0;
  std::vector<StepSpan> passes;  // forward and backward
  std::vector<StepSpan> collectives;
  std::vector<StepSpan> get_nexts;
};

// Iterations that the marks of a device tell, by model and index.
std::vector<Iteration> FindIterations(std::vector<StepMark> marks);

// As slices of a track for each model: 'Iteration 1', 'FP_BP Time 1', ...
void WriteIterations(const std::vector<Iteration>& iterations, int64_t device,
                     const SideClock& clock, TrackBuilder& tracks, store::TraceStore& out);

}  // namespace steplens::readers::prof
