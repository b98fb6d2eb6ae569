#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/verify/checks.h"
#include "analysis/verify/step_share.h"

namespace steplens::analysis::verify {
namespace {

struct ColumnPair {
  std::string_view name;  // in the breakdown table and in the file
  const store::Column<double>& file_us;
  bool passes_doubles;  // the text file computes it from epoch times held in doubles
};

// Row of the breakdown per (device, step); device is none unless the table has that column.
std::map<std::pair<int64_t, int64_t>, size_t> RowsOfRank(const table::Table& breakdown,
                                                         int64_t rank) {
  std::map<std::pair<int64_t, int64_t>, size_t> rows;
  const table::Column* ranks = breakdown.Find("Rank");
  const table::Column* devices = breakdown.Find("Device_id");
  const table::Column* steps = breakdown.Find("Step");
  if (ranks == nullptr || steps == nullptr) return rows;
  for (size_t i = 0; i < breakdown.rows(); ++i) {
    if (ranks->ints[i] != rank) continue;
    rows[{devices == nullptr ? store::kNone : devices->ints[i], steps->ints[i]}] = i;
  }
  return rows;
}

// The file speaks of steps, and the timeline marks none: its one row is all of the time.
bool StepsAreUnmarked(const store::StepTraceTable& traces,
                      const std::map<std::pair<int64_t, int64_t>, size_t>& rows) {
  const auto known = [](int64_t step) { return step != store::kNone; };
  return std::any_of(traces.step.begin(), traces.step.end(), known) &&
         std::none_of(rows.begin(), rows.end(),
                      [&](const auto& row) { return known(row.first.second); });
}

// Each kernel and each gap beside it may be off by the last digit; the db has no rounding.
int64_t SumToleranceNs(const Context& context, const StepShare& share) {
  if (context.is_db()) return 0;
  return static_cast<int64_t>(
      std::max<size_t>(10, 2 * (share.compute_kernels + share.collectives)));
}

// Steps during which the device worked have a row in the file.
void CheckNoStepIsMissing(const Context& context, const table::Table& breakdown,
                          const std::map<std::pair<int64_t, int64_t>, size_t>& rows,
                          Verdict& verdict) {
  const store::StepTraceTable& traces = context.store.step_traces;
  const table::Column* computing = breakdown.Find("Computing");
  const table::Column* communication = breakdown.Find("Communication");
  for (const auto& [key, row] : rows) {
    const int64_t step = key.second;
    if (step == store::kNone) continue;  // work outside of all steps
    if (computing->ints[row] == 0 && communication->ints[row] == 0) continue;
    const bool is_there =
        std::find(traces.step.begin(), traces.step.end(), step) != traces.step.end();
    if (is_there) continue;
    verdict.Row(false, [&] {
      return fmt::format("{}: no row for step {}, which the timeline has",
                         context.Name("step_trace_time", "StepTraceTime"), step);
    });
  }
}

}  // namespace

CheckResult CheckBreakdown(const Context& context, const table::Table& breakdown) {
  Verdict verdict(context, "steps.breakdown",
                  "Every column of step_trace_time is what the timeline says");
  const store::StepTraceTable& traces = context.store.step_traces;
  const std::string_view file = context.Name("step_trace_time", "StepTraceTime");
  if (traces.size() == 0) return verdict.NotApplicable(fmt::format("no {}", file));
  if (context.store.slices.size() == 0) return verdict.NotApplicable("no timeline");
  const auto rows = RowsOfRank(breakdown, context.store.info.rank);
  const auto shares = ShareKernels(context);
  if (rows.empty() || !shares) return verdict.NotApplicable("no device work on the timeline");
  if (StepsAreUnmarked(traces, rows)) {
    return verdict.NotApplicable("the steps are not marked on the timeline");
  }
  const ColumnPair columns[] = {
      {"Computing", traces.computing_us, false},
      {"Communication(Not Overlapped)", traces.comm_not_overlapped_us, false},
      {"Overlapped", traces.overlapped_us, false},
      {"Communication", traces.communication_us, false},
      {"Free", traces.free_us, false},
      {"Stage", traces.stage_us, true},
      {"Bubble", traces.bubble_us, false},
      {"Preparing", traces.preparing_us, true},
  };
  const bool with_device = breakdown.Find("Device_id") != nullptr;
  for (size_t i = 0; i < traces.size(); ++i) {
    const auto row = rows.find({with_device ? traces.device[i] : store::kNone, traces.step[i]});
    if (row == rows.end()) {
      verdict.Row(false, [&] {
        return fmt::format("{} row {}: the timeline has no such step", file, i + 1);
      });
      continue;
    }
    if (!(*shares)[i].is_known) continue;
    for (const ColumnPair& column : columns) {
      const table::Column* expected = breakdown.Find(column.name);
      const auto found_ns = NsOfUs(column.file_us[i]);
      if (expected == nullptr || !found_ns) continue;
      const int64_t doubles_ns = column.passes_doubles && !context.is_db() ? 500 : 0;
      verdict.Near(*found_ns, expected->ints[row->second],
                   SumToleranceNs(context, (*shares)[i]) + doubles_ns,
                   [&] { return fmt::format("{} row {}: {}", file, i + 1, column.name); });
    }
  }
  CheckNoStepIsMissing(context, breakdown, rows, verdict);
  return verdict.Finish("values");
}

}  // namespace steplens::analysis::verify
