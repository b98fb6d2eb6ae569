#include "analysis/compare/runs/rank_part.h"

#include <algorithm>
#include <map>
#include <set>

#include "analysis/breakdown/breakdown.h"
#include "analysis/breakdown/step_times.h"
#include "analysis/compare/runs/rank_calls.h"
#include "analysis/compare/runs/step_rows.h"
#include "analysis/modules/module_ops.h"
#include "analysis/operators/device_kernels.h"
#include "analysis/operators/host_ops.h"
#include "analysis/time_math.h"
#include "analysis/viewer/memory_series.h"

namespace steplens::analysis::runs {
namespace {

using store::kNone;

// Names a rank keeps: more than a run does, so that names at the edge are the same on all ranks.
constexpr size_t kRowsOfRank = 2 * kRowsPerKind;

Position PositionOf(const cluster::RankFacts& facts) {
  std::string problem;
  const auto layout = cluster::ParseLayout(facts.distributed_args, problem);
  if (!layout) return {};
  const cluster::Coordinates at = cluster::CoordinatesOf(*layout, facts.rank);
  return {.is_known = true,
          .tp = at.tp,
          .cp = at.cp,
          .dp = at.dp,
          .pp = at.pp,
          .ep = at.ep,
          .pp_size = layout->pp};
}

// Sums what the devices of a rank say of a step; divided by their number at the end.
void AddParts(const StepParts& parts, StepSums& sums) {
  const std::pair<StepPart, int64_t> values[] = {
      {StepPart::kComputing, parts.computing_ns},
      {StepPart::kCommunication, parts.comm_not_overlapped_ns},
      {StepPart::kOverlapped, parts.overlapped_ns},
      {StepPart::kFree, parts.free_ns},
      {StepPart::kPreparing, parts.preparing_ns},
      {StepPart::kBubble, parts.bubble_ns},
      {StepPart::kCopies, parts.memory_ns}};
  for (const auto& [part, ns] : values) {
    if (ns == kNone) continue;
    sums[part] = AddNs(sums[part] == kNone ? 0 : sums[part], std::max<int64_t>(0, ns));
  }
}

// Steps with their parts, ascending. A run without marks has one row, which is the whole.
std::vector<StepSums> SumSteps(const RankView& rank) {
  std::map<int64_t, std::pair<StepSums, int64_t>> steps;  // and how many devices have it
  std::map<int64_t, int64_t> stage_ns;
  for (const StepParts& parts : BreakDown(rank)) {
    auto& [sums, devices] = steps[parts.step];
    AddParts(parts, sums);
    ++devices;
    if (parts.stage_ns == kNone) continue;
    const int64_t whole_ns = AddNs(parts.stage_ns, parts.bubble_ns == kNone ? 0 : parts.bubble_ns);
    int64_t& longest_ns = stage_ns[parts.step];
    longest_ns = std::max(longest_ns, whole_ns);
  }
  for (const StepTime& time : StepTimesOf(rank)) {
    if (time.ns() != kNone) steps[time.step].first[StepPart::kE2e] = time.ns();
  }
  if (steps.size() > 1) steps.erase(kNone);
  std::vector<StepSums> out;
  for (auto& [number, entry] : steps) {
    auto& [sums, devices] = entry;
    sums.step = number;
    for (int64_t& value : sums.values) {
      if (value != kNone && devices > 1 && &value != &sums[StepPart::kE2e]) value /= devices;
    }
    if (const auto stage = stage_ns.find(number);
        sums[StepPart::kE2e] == kNone && stage != stage_ns.end())
      sums[StepPart::kE2e] = stage->second;
    out.push_back(sums);
  }
  return out;
}

void AddKernels(const RankView& rank, SummarySteps& steps, std::vector<SumRow>& rows) {
  const store::TraceStore& store = rank.store();
  StepRows names(RowKind::kKernel, steps.size());
  StepRows types(RowKind::kKernelType, steps.size());
  const auto text = [&](uint32_t id) { return std::string(store.Text(static_cast<StringId>(id))); };
  ForEachDeviceKernel(
      store, rank.tracks(), rank.platform(), false, [&](const DeviceKernel& kernel) {
        if (kernel.is_communication) return;
        const auto step = kernel.step != kNone ? steps.OfNumber(kernel.step)
                                               : steps.OfDeviceTime(kernel.begin_ns);
        if (!step) return;
        names.AddById(static_cast<uint32_t>(kernel.name), *step, kernel.dur_ns, text);
        if (kernel.type != StringId::kEmpty)
          types.AddById(static_cast<uint32_t>(kernel.type), *step, kernel.dur_ns, text);
      });
  names.MoveTo(rows);
  types.MoveTo(rows);
}

void AddOperators(const store::TraceStore& store, const SummarySteps& steps,
                  std::vector<SumRow>& rows) {
  StepRows names(RowKind::kOperator, steps.size());
  ForEachHostOp(store, [&](const HostOp& op) {
    const auto row = static_cast<size_t>(op.slice);
    const std::string_view name = store.Text(store.slices.name[row]);
    if (name.starts_with("ProfilerStep#")) return;
    const auto step = steps.OfHostTime(store.slices.begin_ns[row]);
    if (!step) return;
    names.AddById(static_cast<uint32_t>(store.slices.name[row]), *step, op.host_self_ns,
                  [&](uint32_t) { return std::string(name); });
  });
  names.MoveTo(rows);
}

void AddModules(const store::TraceStore& store, const SummarySteps& steps,
                std::vector<SumRow>& rows) {
  std::vector<ModuleRange> modules = FindModules(store, /*only_marked=*/false);
  if (modules.empty()) return;
  const std::vector<ModuleRange> backward = FindBackwardModules(store, modules);
  modules.insert(modules.end(), backward.begin(), backward.end());
  const std::vector<LaunchingOp> ops = CollectLaunchingOps(store);
  std::vector<Interval> intervals;
  for (const LaunchingOp& op : ops) intervals.push_back({op.begin_ns, op.end_ns});
  const ModulePaths paths = FindModulePaths(modules, intervals);
  StepRows sums(RowKind::kModule, steps.size());
  for (size_t i = 0; i < ops.size(); ++i) {
    const uint32_t path = paths.of_interval[i];
    const auto step = steps.OfHostTime(ops[i].begin_ns);
    if (path == store::kNoId || !step) continue;
    sums.AddById(path, *step, ops[i].device_ns(), [&](uint32_t id) { return paths.paths[id]; });
  }
  sums.MoveTo(rows);
}

// Peaks per step; what was held when a step began counts for it.
void AddMemory(const store::TraceStore& store, const SummarySteps& steps,
               std::vector<StepSums>& sums) {
  bool is_derived = false;
  for (const viewer::MemorySeries& series :
       viewer::CollectMemorySeries(store, viewer::MemoryGrouping::kOverall, is_derived)) {
    const bool is_allocated = series.name == "Operators Allocated";
    if (!is_allocated && series.name != "Operators Reserved") continue;
    const StepPart part = is_allocated ? StepPart::kAllocated : StepPart::kReserved;
    std::optional<size_t> last_step;
    int64_t held_bytes = 0;
    for (const viewer::MemorySeries::Point& point : series.points) {
      const auto step = steps.OfHostTime(point.ts_ns);
      if (step) {
        int64_t& peak = sums[*step][part];
        if (step != last_step) peak = std::max(peak, held_bytes);
        peak = std::max(peak, point.bytes);
      }
      last_step = step;
      held_bytes = point.bytes;
    }
  }
}

}  // namespace

RankPart SummariseRank(const RankView& rank, const cluster::RankFacts& facts) {
  RankPart part;
  part.rank = facts.rank;
  part.position = PositionOf(facts);
  part.steps = SumSteps(rank);
  std::vector<int64_t> numbers;
  for (const StepSums& step : part.steps) numbers.push_back(step.step);
  SummarySteps steps(std::move(numbers), rank.steps());
  if (steps.size() == 0) return part;
  const store::TraceStore& store = rank.store();
  AddKernels(rank, steps, part.rows);
  AddOperators(store, steps, part.rows);
  AddModules(store, steps, part.rows);
  RankCalls calls = SumCalls(store, facts, steps);
  for (SumRow& row : calls.rows) part.rows.push_back(std::move(row));
  for (size_t i = 0; i < calls.wait_ns.size(); ++i)
    part.steps[i][StepPart::kWait] = calls.wait_ns[i];
  AddMemory(store, steps, part.steps);
  KeepLongest(part.rows, kRowsOfRank, part.cut_ns);
  return part;
}

}  // namespace steplens::analysis::runs
