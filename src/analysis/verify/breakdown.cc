#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/breakdown/breakdown.h"
#include "analysis/time_math.h"
#include "analysis/verify/checks.h"
#include "analysis/verify/step_share.h"

namespace steplens::analysis::verify {
namespace {

struct ColumnPair {
  std::string_view name;  // in the file
  int64_t StepParts::* part;
  const store::Column<double>& file_us;
  bool passes_doubles;  // the text file computes it from epoch times held in doubles
};

// Parts by (device, step); the device is none unless the rank has several.
using PartsByStep = std::map<std::pair<int64_t, int64_t>, StepParts>;

PartsByStep ByStep(const std::vector<StepParts>& breakdown) {
  const bool with_device = HasSeveralDevices(breakdown);
  PartsByStep by_step;
  for (const StepParts& parts : breakdown)
    by_step[{with_device ? parts.device : store::kNone, parts.step}] = parts;
  return by_step;
}

// The file speaks of steps, and the timeline marks none: its one row is all of the time.
bool StepsAreUnmarked(const store::StepTraceTable& traces, const PartsByStep& rows) {
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
void CheckNoStepIsMissing(const Context& context, const PartsByStep& rows, Verdict& verdict) {
  const store::StepTraceTable& traces = context.store.step_traces;
  for (const auto& [key, parts] : rows) {
    const int64_t step = key.second;
    if (step == store::kNone) continue;  // work outside of all steps
    if (parts.computing_ns == 0 && parts.communication_ns == 0) continue;
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

CheckResult CheckBreakdown(const Context& context, const std::vector<StepParts>& breakdown) {
  Verdict verdict(context, "steps.breakdown",
                  "Every column of step_trace_time is what the timeline says");
  const store::StepTraceTable& traces = context.store.step_traces;
  const std::string_view file = context.Name("step_trace_time", "StepTraceTime");
  if (traces.size() == 0) return verdict.NotApplicable(fmt::format("no {}", file));
  if (context.store.slices.size() == 0) return verdict.NotApplicable("no timeline");
  const PartsByStep rows = ByStep(breakdown);
  const auto shares = ShareKernels(context);
  if (rows.empty() || !shares) return verdict.NotApplicable("no device work on the timeline");
  if (StepsAreUnmarked(traces, rows)) {
    return verdict.NotApplicable("the steps are not marked on the timeline");
  }
  const ColumnPair columns[] = {
      {"Computing", &StepParts::computing_ns, traces.computing_us, false},
      {"Communication(Not Overlapped)", &StepParts::comm_not_overlapped_ns,
       traces.comm_not_overlapped_us, false},
      {"Overlapped", &StepParts::overlapped_ns, traces.overlapped_us, false},
      {"Communication", &StepParts::communication_ns, traces.communication_us, false},
      {"Free", &StepParts::free_ns, traces.free_us, false},
      {"Stage", &StepParts::stage_ns, traces.stage_us, true},
      {"Bubble", &StepParts::bubble_ns, traces.bubble_us, false},
      {"Preparing", &StepParts::preparing_ns, traces.preparing_us, true},
  };
  const bool with_device = HasSeveralDevices(breakdown);
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
      const auto found_ns = NsOfUs(column.file_us[i]);
      if (!found_ns) continue;
      const int64_t doubles_ns = column.passes_doubles && !context.is_db() ? 500 : 0;
      verdict.Near(*found_ns, row->second.*column.part,
                   SumToleranceNs(context, (*shares)[i]) + doubles_ns,
                   [&] { return fmt::format("{} row {}: {}", file, i + 1, column.name); });
    }
  }
  CheckNoStepIsMissing(context, rows, verdict);
  return verdict.Finish("values");
}

// The files of Ascend state the parts, so rule 1 speaks of those.
CheckResult CheckBreakdownParts(const Context& context) {
  Verdict verdict(context, "breakdown.parts",
                  "Computing + Communication(Not Overlapped) + Memory + Free of a GPU = Stage + "
                  "Bubble");
  if (!context.is_gpu()) return verdict.NotApplicable("not a GPU trace");
  const std::vector<StepParts> breakdown = BreakDown(context.rank);
  for (size_t row = 0; row < breakdown.size(); ++row) {
    const StepParts& parts = breakdown[row];
    const int64_t parts_ns = AddNs(AddNs(parts.computing_ns, parts.comm_not_overlapped_ns),
                                   AddNs(parts.memory_ns, parts.free_ns));
    verdict.Near(parts_ns, AddNs(parts.stage_ns, parts.bubble_ns), 0,
                 [&] { return fmt::format("breakdown row {}: sum of the parts", row + 1); });
  }
  return verdict.Finish("steps");
}

}  // namespace steplens::analysis::verify
