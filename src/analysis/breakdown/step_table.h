#pragma once

#include <cstdint>
#include <vector>

#include "analysis/facts/rank_view.h"
#include "store/trace_store.h"

namespace steplens::analysis {

// The row of a step as step_trace_time.csv has it, in microseconds; NaN where the file lacks a
// part.
struct StepRow {
  int64_t step = store::kNone;  // none where the run marked no steps
  double computing_us = 0;
  double comm_not_overlapped_us = 0;
  double overlapped_us = 0;
  double communication_us = 0;
  double free_us = 0;
  double stage_us = 0;
  double bubble_us = 0;
  double comm_exclude_receive_us = 0;
  double preparing_us = 0;
  double memory_us = 0;  // copies of a GPU; no file has them
};

// The step table that was delivered with the rank; of a raw capture the one that its results will
// have; else BreakDown of its timeline.
std::vector<StepRow> ReadStepTable(const RankView& rank);

}  // namespace steplens::analysis
