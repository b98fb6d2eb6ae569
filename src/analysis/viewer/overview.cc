#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/breakdown/breakdown.h"
#include "analysis/breakdown/step_times.h"
#include "analysis/cells.h"
#include "analysis/classify/classify.h"
#include "analysis/classify/cpu_words.h"
#include "analysis/cluster/spread.h"
#include "analysis/kernels/kernel_rows.h"
#include "analysis/time_math.h"
#include "analysis/viewer/metrics.h"

// The Overview page: steps of all ranks, the kernels that cost most, what the data lacks.

namespace steplens::analysis::viewer {
namespace {

using store::TraceStore;

int64_t KnownNs(int64_t ns) { return ns == store::kNone ? 0 : ns; }

// The rows of `steplens breakdown`, with their sum.
table::Table StepTable(const store::Job& job, std::optional<int64_t> step) {
  BreakdownOptions options;
  options.selection.step = step;
  TableRows rows(
      "steps",
      {IntColumn("rank"), IntColumn("step"), TimeColumn("total_us"), TimeColumn("computing_us"),
       TimeColumn("not_overlapped_us"), TimeColumn("overlapped_us"), TimeColumn("memory_us"),
       TimeColumn("free_us"), TimeColumn("bubble_us"), TimeColumn("preparing_us")});
  for (const TraceStore& store : job.ranks) {
    for (const StepParts& parts : BreakDown(RankView(store), options)) {
      const int64_t computing_ns = KnownNs(parts.computing_ns);
      const int64_t exposed_ns = KnownNs(parts.comm_not_overlapped_ns);
      const int64_t memory_ns = KnownNs(parts.memory_ns);
      const int64_t free_ns = KnownNs(parts.free_ns);
      rows.Add(store.info.rank, parts.step,
               AddNs(AddNs(computing_ns, exposed_ns), AddNs(memory_ns, free_ns)), computing_ns,
               exposed_ns, KnownNs(parts.overlapped_ns), memory_ns, free_ns,
               KnownNs(parts.bubble_ns), KnownNs(parts.preparing_ns));
    }
  }
  return rows.Take();
}

// Kernels by type (by name where the input has no types), with how much their durations vary.
table::Table TopKernels(const TraceStore& store, std::optional<int64_t> step, int64_t top) {
  const std::function<bool(size_t)> is_collective = CollectiveTest(store);
  const std::function<bool(size_t)> in_step = StepTest(store, step);
  std::map<std::pair<StringId, StringId>, cluster::Spread> groups;
  int64_t all_ns = 0;
  for (const uint32_t i :
       SelectKernels(store, {}, [&](size_t row) { return !is_collective(row) && in_step(row); })) {
    const StringId type = store.kernels.type[i];
    groups[{type == StringId::kEmpty ? store.kernels.name[i] : type, store.kernels.core[i]}].Add(
        store.kernels.dur_ns[i]);
    all_ns = AddNs(all_ns, store.kernels.dur_ns[i].value());
  }
  std::vector<std::pair<std::pair<StringId, StringId>, cluster::Spread>> sorted(groups.begin(),
                                                                                groups.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second.sum_ns() > b.second.sum_ns();
  });
  if (top >= 0 && static_cast<size_t>(top) < sorted.size()) {
    sorted.resize(static_cast<size_t>(top));
  }
  TableRows rows("top_kernels",
                 {TextColumn("name"), TextColumn("core"), IntColumn("count"),
                  TimeColumn("total_us"), NumberColumn("share", 2), NumberColumn("p50_us", 3),
                  NumberColumn("p99_us", 3), NumberColumn("p99_to_p50", 2)});
  const bool is_cpu = IsCpuCapture(store);
  for (const auto& [key, spread] : sorted) {
    const double p50_us = spread.Quantile(0.5) / 1000;
    const double p99_us = spread.Quantile(0.99) / 1000;
    rows.Add(store.Text(key.first), CoreWord(store.Text(key.second), is_cpu), spread.count(),
             spread.sum_ns(), RoundTo(100 * Share(NsToUs(spread.sum_ns()), NsToUs(all_ns)), 2),
             p50_us, p99_us, RoundTo(Share(p99_us, p50_us), 2));
  }
  return rows.Take();
}

bool HasStacks(const TraceStore& store) {
  const auto& stacks = store.host_ops.call_stack;
  return std::any_of(stacks.begin(), stacks.end(),
                     [](StringId stack) { return stack != StringId::kEmpty; });
}
bool HasShapes(const TraceStore& store) {
  const auto& shapes = store.host_ops.input_shapes;
  return std::any_of(shapes.begin(), shapes.end(),
                     [](StringId shape) { return shape != StringId::kEmpty; });
}

table::Table Quality(const TraceStore& store) {
  const bool is_ascend =
      !IsCpuCapture(store) && DetectPlatform(store, ClassifyTracks(store)) == Platform::kAscend;
  TableRows rows("quality", {TextColumn("what"), TextColumn("status"), TextColumn("detail"),
                             TextColumn("flag")});
  const auto check = [&](const char* what, bool has, std::string detail, const char* flag) {
    rows.Add(what, has ? "ok" : "missing", has ? detail : "", has ? "" : flag);
  };
  check("level", !store.info.level.empty() || !is_ascend, store.info.level, "profiler_level");
  check("steps", store.steps.size() > 0, fmt::format("{}", store.steps.size()),
        "schedule and prof.step()");
  check("kernels", store.kernels.size() > 0, fmt::format("{}", store.kernels.size()),
        is_ascend ? "activities=[NPU]" : "activities=[CUDA]");
  check("shapes", HasShapes(store), "", "record_shapes=True");
  check("stacks", HasStacks(store), "", "with_stack=True");
  check("memory", store.memory_samples.size() > 0 || store.allocations.size() > 0,
        fmt::format("{}", store.allocations.size()), "profile_memory=True");
  check("communication", store.comm_ops.size() > 0, fmt::format("{}", store.comm_ops.size()),
        "profiler_level=Level1");
  if (is_ascend) {
    check("metrics", !store.kernel_metrics.empty(), fmt::format("{}", store.kernel_metrics.size()),
          "aic_metrics=PipeUtilization");
  }
  for (size_t i = 0; i < static_cast<size_t>(store::IssueKind::kCount); ++i) {
    const auto kind = static_cast<store::IssueKind>(i);
    const store::IssueLog::Entry& entry = store.issues.entry(kind);
    if (entry.count == 0) continue;
    rows.Add("issue", "warning", fmt::format("{}: {}", entry.count, entry.example), "");
  }
  return rows.Take();
}

}  // namespace

Result<MetricAnswer> Overview(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const TraceStore* const store, RankOf(call));
  SL_ASSIGN_OR_RETURN(const std::optional<int64_t> step, StepOf(call));
  SL_ASSIGN_OR_RETURN(const int64_t top, call.args.IntOr("top", 15));
  MetricAnswer answer;
  answer.definition = "steplens.overview";
  answer.query = "SELECT * FROM breakdown";
  answer.tables.push_back(StepTable(call.job, step));
  answer.tables.push_back(StepTimeTable(call.job));
  answer.tables.push_back(TopKernels(*store, step, top));
  answer.tables.push_back(Quality(*store));
  return answer;
}

}  // namespace steplens::analysis::viewer
