#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/facts/rank_view.h"
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

// Where the time of one step went on one device. The names are those of step_trace_time.csv.
//   computing + comm_not_overlapped + memory + free == stage + bubble
//   overlapped + comm_not_overlapped == communication
// Rows that were taken from result files have kNone where these do not say a part.
struct StepParts {
  int64_t device = store::kNone;  // none where the input does not say it
  int64_t step = store::kNone;    // none where the run marked no steps
  int64_t computing_ns = 0;
  int64_t comm_not_overlapped_ns = 0;
  int64_t overlapped_ns = 0;
  int64_t communication_ns = 0;
  int64_t free_ns = 0;
  int64_t stage_ns = 0;
  int64_t bubble_ns = 0;
  int64_t comm_exclude_receive_ns = 0;
  int64_t preparing_ns = 0;
  int64_t memory_ns = 0;  // copies of a GPU that overlap neither compute nor communication
};

// The steps of a rank, by device and number, computed from the timeline itself. One row per device
// where the run marked no steps. A rank without device events is measured by its host operators.
// One without a timeline has, if kOfCapture, the rows of its step_trace_time.csv or StepTraceTime;
// without these, its steps are those of kernel_details. A rank without any work has no row.
std::vector<StepParts> BreakDown(const RankView& rank, const BreakdownOptions& options = {});

// Whether the rows of a rank are of more than one device.
bool HasSeveralDevices(std::span<const StepParts> breakdown);

// `steplens breakdown`, the same for all ranks as a table. Columns: Rank, Device_id (only if a rank
// has several devices), Step, then those of step_trace_time.csv, Memory if any rank is a GPU
// capture and, unless files or the reference are asked for, Step Time (step_times.h). For people
// and files; analyses call BreakDown.
table::Table StepBreakdown(const store::Job& job, const BreakdownOptions& options);
table::Table StepBreakdown(std::span<const store::TraceStore> ranks,
                           const BreakdownOptions& options);

// Per rank, from the first to the last device event: time without any event (idle), with compute,
// and the rest (communication and copies alone). The three parts sum to kernel_time.
table::Table TemporalBreakdown(const store::Job& job);

}  // namespace steplens::analysis
