#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/facts/rank_view.h"
#include "analysis/overlap/overlap.h"
#include "store/trace_store.h"
#include "table/table.h"

namespace steplens::analysis {

// How long one training step of a rank took. kNone where it is not known.
struct StepTime {
  int64_t step = store::kNone;
  // From its mark to the mark of the next step; of the last step the length of the mark itself.
  int64_t host_ns = store::kNone;
  // From its first device work to that of the next step; of the last step to the end of its work.
  int64_t device_ns = store::kNone;
  // What the step took, and what shares are of: the longer of the two, for a host that runs ahead
  // of the device marks steps faster than they are done.
  int64_t ns() const { return host_ns > device_ns ? host_ns : device_ns; }
};

// By step, from the first to the last device work that began in it; nothing in steps without any.
std::vector<std::optional<Interval>> WorkOfSteps(const RankView& rank);

// The steps of a rank in order of host start. A rank without a timeline is known by its step table:
// Stage + Bubble is the device's time. Empty if the run marked no steps.
std::vector<StepTime> StepTimesOf(const RankView& rank);

// The step of a rank on average, number kNone: of the periods from start to start where there are
// two steps or more, for the last step has none.
StepTime MeanStepTime(const std::vector<StepTime>& steps);

// SQL table step_times: a row per rank and step, and per rank one without a step for the average.
table::Table StepTimeTable(const store::Job& job);

}  // namespace steplens::analysis
