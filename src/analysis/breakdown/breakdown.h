#pragma once

#include <cstdint>
#include <span>

#include "analysis/selection.h"
#include "store/trace_store.h"
#include "table/table.h"

namespace steplens::analysis {

// How work is divided among steps. Text cuts the timeline into pieces; a db takes the work as it
// is; a piece belongs to the first step it starts in. kText and kDb ask for the columns of result
// files, which know no copies: their time is free. kOfCapture follows the input, and tells the
// copies of a GPU.
enum class BreakdownRule : uint8_t { kOfCapture, kText, kDb };

struct BreakdownOptions {
  Selection selection{};
  // As the reference has it: Stage and Preparing of text captures in the 0.25 us grid of doubles;
  // the work of a db in each of the steps it starts in, where steps overlap.
  bool compat = false;
  BreakdownRule rule = BreakdownRule::kOfCapture;
};

// `steplens breakdown`: one row per (rank, device, step), or per (rank, device) with an empty Step
// where the run marked no steps. Columns: Rank, Device_id (only if a rank has several devices),
// Step, then those of step_trace_time.csv, computed from the timeline itself, then Memory if any
// rank is a GPU capture (copies that overlap neither compute nor communication).
//   Computing + Communication(Not Overlapped) + Memory + Free == Stage + Bubble
// A rank without device events is measured by its host operators. One without a timeline has, if
// kOfCapture, the rows of its step_trace_time.csv or StepTraceTime; without these, its steps are
// those of kernel_details. Ranks without any work have no row.
table::Table StepBreakdown(const store::Job& job, const BreakdownOptions& options);
table::Table StepBreakdown(std::span<const store::TraceStore> ranks,
                           const BreakdownOptions& options);

// Per rank, from the first to the last device event: time without any event (idle), with compute,
// and the rest (communication and copies alone). The three parts sum to kernel_time.
table::Table TemporalBreakdown(const store::Job& job);

}  // namespace steplens::analysis
