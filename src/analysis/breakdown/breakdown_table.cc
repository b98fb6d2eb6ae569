#include <algorithm>
#include <map>

#include "analysis/breakdown/breakdown.h"
#include "analysis/breakdown/step_times.h"

// The breakdown as a table.

namespace steplens::analysis {
namespace {

struct PartColumn {
  const char* name;  // as step_trace_time.csv has it
  int64_t StepParts::* part;
};
constexpr PartColumn kPartColumns[] = {
    {"Computing", &StepParts::computing_ns},
    {"Communication(Not Overlapped)", &StepParts::comm_not_overlapped_ns},
    {"Overlapped", &StepParts::overlapped_ns},
    {"Communication", &StepParts::communication_ns},
    {"Free", &StepParts::free_ns},
    {"Stage", &StepParts::stage_ns},
    {"Bubble", &StepParts::bubble_ns},
    {"Communication(Not Overlapped and Exclude Receive)", &StepParts::comm_exclude_receive_ns},
    {"Preparing", &StepParts::preparing_ns},
};

}  // namespace

bool HasSeveralDevices(std::span<const StepParts> breakdown) {
  return std::any_of(breakdown.begin(), breakdown.end(), [&](const StepParts& parts) {
    return parts.device != breakdown.front().device;
  });
}

table::Table StepBreakdown(const store::Job& job, const BreakdownOptions& options) {
  return StepBreakdown(job.ranks, options);
}

table::Table StepBreakdown(std::span<const store::TraceStore> ranks,
                           const BreakdownOptions& options) {
  BreakdownOptions all_steps = options;  // whether there are several devices hangs on no step
  all_steps.selection.step.reset();
  // Result files have no step time, nor has the reference.
  const bool with_step_time = options.rule == BreakdownRule::kOfCapture && !options.compat;
  std::vector<std::vector<StepParts>> rows_of_rank;
  std::vector<std::map<int64_t, int64_t>> step_ns_of_rank;  // by step
  bool with_device = false;
  bool has_gpu = false;
  for (const store::TraceStore& store : ranks) {
    const RankView rank(store);
    rows_of_rank.push_back(BreakDown(rank, all_steps));
    with_device |= HasSeveralDevices(rows_of_rank.back());
    std::map<int64_t, int64_t>& step_ns = step_ns_of_rank.emplace_back();
    if (with_step_time) {
      for (const StepTime& time : StepTimesOf(rank)) step_ns[time.step] = time.ns();
    }
    has_gpu |= options.selection.HasRank(store.info.rank) && rank.platform() == Platform::kGpu;
  }
  const bool with_memory = has_gpu && options.rule == BreakdownRule::kOfCapture;
  table::Table out("breakdown");
  out.AddColumn("Rank", table::CellType::kInt);
  if (with_device) out.AddColumn("Device_id", table::CellType::kInt);
  out.AddColumn("Step", table::CellType::kInt);
  for (const PartColumn& column : kPartColumns)
    out.AddColumn(column.name, table::CellType::kTimeUs);
  if (with_memory) out.AddColumn("Memory", table::CellType::kTimeUs);
  if (with_step_time) out.AddColumn("Step Time", table::CellType::kTimeUs);
  for (size_t r = 0; r < ranks.size(); ++r) {
    for (const StepParts& parts : rows_of_rank[r]) {
      if (!options.selection.HasStep(parts.step)) continue;
      size_t cell = 0;
      out.AppendInt(cell++, ranks[r].info.rank);
      if (with_device) out.AppendInt(cell++, parts.device);
      out.AppendInt(cell++, parts.step);
      for (const PartColumn& column : kPartColumns) out.AppendInt(cell++, parts.*column.part);
      if (with_memory) out.AppendInt(cell++, parts.memory_ns);
      if (!with_step_time) continue;
      const auto step_ns = step_ns_of_rank[r].find(parts.step);
      out.AppendInt(cell++, step_ns == step_ns_of_rank[r].end() ? table::kNull : step_ns->second);
    }
  }
  return out;
}

}  // namespace steplens::analysis
