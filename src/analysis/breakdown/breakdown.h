#pragma once

#include <cstdint>
#include <span>

#include "analysis/selection.h"
#include "store/trace_store.h"
#include "table/table.h"

namespace steplens::analysis {

// How work is divided among steps: text cuts the timeline into pieces first, a db takes the work
// that starts in a step.
enum class BreakdownRule : uint8_t { kOfCapture, kText, kDb };

struct BreakdownOptions {
  Selection selection{};
  // Stage and Preparing of text captures in the 0.25 us grid of the reference's doubles.
  bool compat = false;
  BreakdownRule rule = BreakdownRule::kOfCapture;
};

// `steplens breakdown`: one row per (rank, device, step), or per (rank, device) with an empty Step
// where the run marked no steps. Columns: Rank, Device_id (only if a rank has several devices),
// Step, then those of step_trace_time.csv, computed from the timeline itself, then Memory if any
// rank is a GPU capture (copies that overlap neither compute nor communication).
//   Computing + Communication(Not Overlapped) + Memory + Free == Stage + Bubble
// A rank without device events is measured by its host operators. Ranks without any work have no
// row.
table::Table StepBreakdown(const store::Job& job, const BreakdownOptions& options);
table::Table StepBreakdown(std::span<const store::TraceStore> ranks,
                           const BreakdownOptions& options);

// Per rank, from the first to the last device event: time without any event (idle), with compute,
// and the rest (communication and copies alone). The three parts sum to kernel_time.
table::Table TemporalBreakdown(const store::Job& job);

}  // namespace steplens::analysis
