#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "analysis/classify/text_memo.h"
#include "analysis/overlap/overlap.h"
#include "analysis/steps/step_parts.h"
#include "analysis/time_math.h"
#include "analysis/verify/checks.h"
#include "analysis/verify/step_rows.h"
#include "analysis/verify/step_share.h"
#include "base/number.h"
#include "store/step_values.h"

namespace steplens::analysis::verify {
namespace {

std::string_view FileName(const Context& context) {
  return context.Name("step_trace_time", "StepTraceTime");
}

std::string NoStepFile(const Context& context) { return fmt::format("no {}", FileName(context)); }

// "step_trace_time row 3 (step 52)"
std::string RowText(const Context& context, size_t row) {
  const int64_t step = context.store.step_traces.step[row];
  if (step == store::kNone) return fmt::format("{} row {}", FileName(context), row + 1);
  return fmt::format("{} row {} (step {})", FileName(context), row + 1, step);
}

// Elapse Time per step as communication.json writes it ("step50"): of the totals, or of the
// operations where there are no totals (db).
std::map<std::string, double> ElapseMsPerStep(const Context& context) {
  const store::CommTimeTable& times = context.store.comm_times;
  std::map<std::string, double> totals_ms;
  std::map<std::string, double> ops_ms;
  for (size_t i = 0; i < times.size(); ++i) {
    const bool is_total = context.Text(times.op_name[i]) == kTotalOpInfo;
    (is_total ? totals_ms : ops_ms)[std::string(context.Text(times.step[i]))] += times.elapse_ms[i];
  }
  for (const auto& [step, elapse_ms] : ops_ms) totals_ms.try_emplace(step, elapse_ms);
  return totals_ms;
}

std::string StepLabel(int64_t step) {
  return step == store::kNone ? "step" : fmt::format("step{}", step);
}

// What the operations of one step say of its communication.
struct OperationTimes {
  std::vector<Interval> intervals;  // start to start + Elapse Time, since the first start of all
  bool is_known = true;             // of each of them
};

// By step as communication.json writes it, without the totals.
std::map<std::string, OperationTimes> OperationsPerStep(const Context& context) {
  const store::CommTimeTable& times = context.store.comm_times;
  std::map<std::string, OperationTimes> steps;
  double first_us = std::numeric_limits<double>::infinity();
  for (const double start_us : times.start_us) first_us = std::fmin(first_us, start_us);
  for (size_t i = 0; i < times.size(); ++i) {
    if (context.Text(times.op_name[i]) == kTotalOpInfo) continue;
    OperationTimes& step = steps[std::string(context.Text(times.step[i]))];
    const auto begin_ns = NsOfUs(times.start_us[i] - first_us);
    const auto elapse_ns = NsOfUs(times.elapse_ms[i] * 1000);
    if (begin_ns && elapse_ns) {
      step.intervals.push_back({*begin_ns, EndNs(*begin_ns, *elapse_ns)});
    } else {
      step.is_known = false;
    }
  }
  return steps;
}

// Where no kernel says when a collective ran, the operations do; those of one step may overlap.
// Newer files measure the master plane instead of the whole operation, and a file with one step
// gets the operations outside of it as well, and where the host is the device an operation may go
// on in the next step: what that explains is not compared.
CheckResult CompareWithOperations(const Context& context, Verdict& verdict) {
  // Start Timestamp(us) is a double, which has steps of 0.25 us today.
  constexpr int64_t kStartStepNs = 250;
  const store::StepTraceTable& traces = context.store.step_traces;
  std::map<std::string, OperationTimes> steps = OperationsPerStep(context);
  for (size_t i = 0; i < traces.size(); ++i) {
    const auto step = steps.find(StepLabel(traces.step[i]));
    const auto whole_ns = NsOfUs(traces.communication_us[i]);
    if (step == steps.end() || !step->second.is_known || !whole_ns) continue;
    std::vector<Interval>& operations = step->second.intervals;
    SortIntervals(operations);
    const int64_t covered_ns = UnionLength(operations);
    const int64_t tolerance_ns =
        std::max<int64_t>(10, kStartStepNs * static_cast<int64_t>(operations.size()));
    const bool may_differ =
        covered_ns < *whole_ns || steps.size() == 1 || CutsWork(context.rank.steps());
    if (may_differ && Distance(covered_ns, *whole_ns) > static_cast<uint64_t>(tolerance_ns))
      continue;
    verdict.Near(covered_ns, *whole_ns, tolerance_ns,
                 [&] { return RowText(context, i) + ": time covered by the operations"; });
  }
  return verdict.Finish("steps");
}

// The number of a step that its range on the timeline is named after: "ProfilerStep#50".
std::optional<int64_t> StepOfMark(std::string_view name) {
  constexpr std::string_view kPrefix = "ProfilerStep#";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  return ParseInt64(name.substr(kPrefix.size()));
}

enum OverlapKind { kComputing, kCommunication, kNotOverlapped, kFree, kOverlapKinds };
constexpr std::string_view kOverlapNames[kOverlapKinds] = {"Computing", "Communication",
                                                           "Communication(Not Overlapped)", "Free"};

struct OverlapSum {
  int64_t total_ns = 0;
  int64_t slices = 0;
};
using OverlapSums = std::array<OverlapSum, kOverlapKinds>;

// Sums of the Overlap Analysis slices per row of step_traces; nothing if their steps cannot be
// told.
std::optional<std::vector<OverlapSums>> SumOverlapTrack(const Context& context) {
  const store::SliceTable& slices = context.store.slices;
  std::vector<OverlapSums> sums(context.store.step_traces.size());
  StepRows rows(context);
  for (size_t i = 0; i < slices.size(); ++i) {
    if (context.track_kind(slices.track[i]) != TrackKind::kOverlap) continue;
    const std::string_view name = context.Text(slices.name[i]);
    const auto kind = std::find(std::begin(kOverlapNames), std::end(kOverlapNames), name);
    if (kind == std::end(kOverlapNames)) continue;
    const std::optional<size_t> row = rows.OfTime(store::kNone, slices.begin_ns[i]);
    if (!row) return std::nullopt;
    if (*row == StepRows::kNoRow) continue;
    OverlapSum& sum = sums[*row][static_cast<size_t>(kind - std::begin(kOverlapNames))];
    sum.total_ns = AddNs(sum.total_ns, slices.dur_ns[i]);
    ++sum.slices;
  }
  return sums;
}

bool NamesSeveralDevices(const store::StepTraceTable& traces) {
  return std::any_of(traces.device.begin(), traces.device.end(),
                     [&](int64_t device) { return device != traces.device[0]; });
}

}  // namespace

CheckResult CheckPartsFillStage(const Context& context) {
  Verdict verdict(context, "1",
                  "Computing + Communication(Not Overlapped) + Free = Stage + Bubble");
  const store::StepTraceTable& traces = context.store.step_traces;
  if (traces.size() == 0) return verdict.NotApplicable(NoStepFile(context));
  // Text goes through doubles at both ends of Stage.
  const int64_t tolerance_ns = context.is_db() ? 0 : 500;
  for (size_t i = 0; i < traces.size(); ++i) {
    const auto parts =
        NsOfUs(traces.computing_us[i] + traces.comm_not_overlapped_us[i] + traces.free_us[i]);
    const auto whole = NsOfUs(traces.stage_us[i] + traces.bubble_us[i]);
    if (!parts || !whole) continue;
    verdict.Near(*parts, *whole, tolerance_ns,
                 [&] { return RowText(context, i) + ": sum of the parts"; });
  }
  return verdict.Finish("steps");
}

CheckResult CheckOverlapAddsUp(const Context& context) {
  Verdict verdict(context, "2", "Overlapped + Communication(Not Overlapped) = Communication");
  const store::StepTraceTable& traces = context.store.step_traces;
  if (traces.size() == 0) return verdict.NotApplicable(NoStepFile(context));
  for (size_t i = 0; i < traces.size(); ++i) {
    const double whole_us = traces.communication_us[i];
    if (!NsOfUs(whole_us)) continue;
    // Steps of hours exceed what a double holds with six decimals.
    const double resolution_us = 4 * std::numeric_limits<double>::epsilon() * std::fabs(whole_us);
    verdict.Near(traces.overlapped_us[i] + traces.comm_not_overlapped_us[i], whole_us,
                 std::max(1e-6, resolution_us),
                 [&] { return RowText(context, i) + ": sum of both, in us,"; });
  }
  return verdict.Finish("steps");
}

// compare(row, share) for each row of the step file whose kernels are known.
template <typename Compare>
CheckResult CompareWithKernels(const Context& context, Verdict& verdict, Compare&& compare) {
  if (context.store.step_traces.size() == 0) return verdict.NotApplicable(NoStepFile(context));
  if (context.store.kernels.size() == 0) return verdict.NotApplicable("no kernel_details");
  const auto shares = ShareKernels(context);
  if (!shares) return verdict.NotApplicable("the steps are not marked on the timeline");
  for (size_t i = 0; i < shares->size(); ++i) {
    if ((*shares)[i].is_known) compare(i, (*shares)[i]);
  }
  return verdict.Finish("steps");
}

CheckResult CheckComputingIsUnion(const Context& context) {
  Verdict verdict(context, "3", "Computing is the time covered by the compute kernels of the step");
  return CompareWithKernels(context, verdict, [&](size_t i, const StepShare& share) {
    const auto computing_ns = NsOfUs(context.store.step_traces.computing_us[i]);
    if (!computing_ns) return;
    verdict.Near(*computing_ns, share.computing_ns, static_cast<int64_t>(share.compute_kernels),
                 [&] { return RowText(context, i) + ": Computing"; });
  });
}

CheckResult CheckCommunicationIsUnion(const Context& context) {
  Verdict verdict(context, "4", "Communication is the time covered by the collectives of the step");
  return CompareWithKernels(context, verdict, [&](size_t i, const StepShare& share) {
    const auto communication_ns = NsOfUs(context.store.step_traces.communication_us[i]);
    if (!communication_ns) return;
    // 0.01 us as documented; each of very many collectives may lose its fourth decimal.
    verdict.Near(*communication_ns, share.communication_ns,
                 std::max<int64_t>(10, static_cast<int64_t>(share.collectives)),
                 [&] { return RowText(context, i) + ": Communication"; });
  });
}

CheckResult CheckCommunicationIsElapse(const Context& context) {
  Verdict verdict(context, "4.elapse",
                  "Communication is the time covered by the elapse times of all operations");
  const store::StepTraceTable& traces = context.store.step_traces;
  if (traces.size() == 0) return verdict.NotApplicable(NoStepFile(context));
  const std::map<std::string, double> elapse_ms = ElapseMsPerStep(context);
  if (elapse_ms.empty()) {
    return verdict.NotApplicable(
        fmt::format("no {}", context.Name("communication.json", "CommAnalyzerTime")));
  }
  const store::KernelTable& kernels = context.store.kernels;
  size_t collectives = 0;
  bool master_plane_only =
      false;  // newer files measure the master plane instead of the whole operation
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (!context.IsCollective(i)) continue;
    ++collectives;
    master_plane_only = master_plane_only || context.Text(kernels.core[i]) != "HCCL";
  }
  if (collectives == 0) return CompareWithOperations(context, verdict);
  const auto shares = ShareKernels(context);
  if (!shares) return verdict.NotApplicable("the steps are not marked on the timeline");
  for (size_t i = 0; i < traces.size(); ++i) {
    const StepShare& share = (*shares)[i];
    const auto elapse = elapse_ms.find(StepLabel(traces.step[i]));
    if (elapse == elapse_ms.end() || share.collectives_overlap || !share.is_known) continue;
    if (share.collectives_go_on) continue;  // Elapse Time is that of the whole operation
    // A file with one step gets the operations outside of it as well.
    if (elapse_ms.size() == 1 && share.collectives != collectives) continue;
    const auto found_ns = NsOfUs(elapse->second * 1000);
    const auto whole_ns = NsOfUs(traces.communication_us[i]);
    if (!found_ns || !whole_ns) continue;
    if (master_plane_only && *found_ns <= *whole_ns) continue;
    verdict.Near(*found_ns, *whole_ns,
                 std::max<int64_t>(10, static_cast<int64_t>(share.collectives)),
                 [&] { return RowText(context, i) + ": sum of Elapse Time"; });
  }
  return verdict.Finish("steps");
}

CheckResult CheckOverlapTrack(const Context& context) {
  Verdict verdict(context, "5", "The Overlap Analysis slices of a step sum up to its columns");
  const store::StepTraceTable& traces = context.store.step_traces;
  if (traces.size() == 0) return verdict.NotApplicable(NoStepFile(context));
  if (NamesSeveralDevices(traces)) return verdict.NotApplicable("several devices in one rank");
  const auto sums = SumOverlapTrack(context);
  if (!sums) return verdict.NotApplicable("the steps are not marked on the timeline");
  int64_t slices = 0;
  for (const OverlapSums& row : *sums) {
    for (const OverlapSum& sum : row) slices += sum.slices;
  }
  if (slices == 0) return verdict.NotApplicable("no Overlap Analysis in the trace");
  for (size_t i = 0; i < traces.size(); ++i) {
    const double columns_us[kOverlapKinds] = {traces.computing_us[i], traces.communication_us[i],
                                              traces.comm_not_overlapped_us[i], traces.free_us[i]};
    for (size_t kind = 0; kind < kOverlapKinds; ++kind) {
      const auto column_ns = NsOfUs(columns_us[kind]);
      if (!column_ns) continue;
      const OverlapSum& sum = (*sums)[i][kind];
      verdict.Near(*column_ns, sum.total_ns, std::max<int64_t>(1, sum.slices),
                   [&] { return fmt::format("{}: {}", RowText(context, i), kOverlapNames[kind]); });
    }
  }
  verdict.Note(fmt::format("{} slices", slices));
  return verdict.Finish("columns");
}

CheckResult CheckStepValues(const Context& context) {
  Verdict verdict(context, "steps.values", "No value of step_trace_time is negative or absurd");
  const store::StepTraceTable& traces = context.store.step_traces;
  if (traces.size() == 0) return verdict.NotApplicable(NoStepFile(context));
  store::ForEachStepValue(traces, [&](std::string_view name, size_t row, double value_us) {
    verdict.Row(!store::IsOddStepValue(value_us), [&] {
      return fmt::format("{}: {} is {:.15g} us", RowText(context, row), name, value_us);
    });
  });
  return verdict.Finish("values");
}

CheckResult CheckStepMarks(const Context& context) {
  Verdict verdict(context, "steps.marks",
                  "Every step of step_trace_time, and every ProfilerStep range, is a known step");
  const store::TraceStore& store = context.store;
  const std::set<int64_t> known(store.steps.step.begin(), store.steps.step.end());
  const auto look_for = [&](int64_t step, const auto& where) {
    verdict.Row(known.contains(step), [&] {
      return fmt::format("{}: no such step in {}", where(), context.Name("the trace", "STEP_TIME"));
    });
  };
  bool any_mark = false;
  TextMemo is_mark(store, [](std::string_view name) { return StepOfMark(name).has_value(); });
  for (size_t i = 0; i < store.slices.size(); ++i) {
    if (!is_mark(store.slices.name[i]) || !context.IsHostOp(i)) continue;
    any_mark = true;
    const std::string_view name = store.Text(store.slices.name[i]);
    look_for(*StepOfMark(name), [&] { return std::string(name); });
  }
  // Not all that writes a step table marks its steps.
  if (!any_mark && known.empty()) return verdict.NotApplicable("no marked steps");
  for (size_t row = 0; row < store.step_traces.size(); ++row) {
    const int64_t step = store.step_traces.step[row];
    if (step != store::kNone) look_for(step, [&] { return RowText(context, row); });
  }
  return verdict.Finish("steps");
}

CheckResult CheckStepsOnce(const Context& context) {
  Verdict verdict(context, "steps.once", "Every step of STEP_TIME is there once");
  const store::StepTable& steps = context.store.steps;
  if (!context.is_db() || steps.size() == 0) return verdict.NotApplicable("no STEP_TIME");
  std::map<int64_t, size_t> rows;  // first row of each step
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto [first, is_new] = rows.try_emplace(steps.step[i], i);
    verdict.Row(is_new, [&] {
      return fmt::format("STEP_TIME row {}: step {} is in row {} already", i + 1, steps.step[i],
                         first->second + 1);
    });
  }
  return verdict.Finish("steps");
}

CheckResult CheckExcludeReceive(const Context& context) {
  Verdict verdict(
      context, "steps.exclude_receive",
      "Communication(Not Overlapped and Exclude Receive) is Communication(Not Overlapped) less "
      "Bubble, at least 0");
  const store::StepTraceTable& traces = context.store.step_traces;
  if (traces.size() == 0) return verdict.NotApplicable(NoStepFile(context));
  for (size_t i = 0; i < traces.size(); ++i) {
    const auto found_ns = NsOfUs(traces.comm_exclude_receive_us[i]);
    const auto rest_ns = NsOfUs(traces.comm_not_overlapped_us[i] - traces.bubble_us[i]);
    if (!found_ns || !rest_ns) continue;
    verdict.Near(*found_ns, std::max<int64_t>(0, *rest_ns), 2,
                 [&] { return RowText(context, i) + ": the column"; });
  }
  return verdict.Finish("steps");
}

}  // namespace steplens::analysis::verify
