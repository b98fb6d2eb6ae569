#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/cells.h"
#include "analysis/classify/classify.h"
#include "analysis/classify/cpu_words.h"
#include "analysis/kernels/kernel_rows.h"
#include "analysis/kernels/operator_groups.h"
#include "analysis/time_math.h"
#include "analysis/viewer/metrics.h"

// The Operator page: kernels of a rank grouped five ways.

namespace steplens::analysis::viewer {
namespace {

using store::TraceStore;

Result<OperatorGrouping> GroupingOf(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const std::string name,
                      call.args.TextOr("group_by", "Computing Operator Type"));
  return ParseOperatorGrouping(name);
}

std::string SectorName(const TraceStore& store, const OperatorGroup& group,
                       const OperatorGrouping& by) {
  if (by.by_type) return std::string(store.Text(group.type));
  std::string name(store.Text(group.name));
  if (by.by_shape) name += "[\"" + std::string(store.Text(group.shape)) + "\"]";
  return name;
}

// At most 50 sectors, the last one holding the rest.
table::Table PieTable(const TraceStore& store, const std::vector<OperatorGroup>& groups,
                      const OperatorGrouping& by) {
  constexpr size_t kSectors = 50;
  TableRows rows("pie", {TextColumn("name"), NumberColumn("duration_us", 2)});
  const size_t own = groups.size() > kSectors ? kSectors - 1 : groups.size();
  for (size_t i = 0; i < own; ++i) {
    rows.Add(SectorName(store, groups[i], by), RoundTo(NsToUs(groups[i].stats.total_ns), 2));
  }
  int64_t rest_ns = 0;
  for (size_t i = own; i < groups.size(); ++i) rest_ns = AddNs(rest_ns, groups[i].stats.total_ns);
  if (own < groups.size()) rows.Add("Others", RoundTo(NsToUs(rest_ns), 2));
  return rows.Take();
}

// The sum of what the other pie shows, so rounded first.
table::Table CoreTable(const TraceStore& store, const std::vector<OperatorGroup>& groups) {
  std::map<StringId, double> totals_us;
  for (const OperatorGroup& group : groups) {
    totals_us[group.core] += RoundTo(NsToUs(group.stats.total_ns), 2);
  }
  std::vector<std::pair<StringId, double>> sorted(totals_us.begin(), totals_us.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  TableRows rows("cores", {TextColumn("name"), NumberColumn("duration_us", 2)});
  const bool is_cpu = IsCpuCapture(store);
  for (const auto& [core, total_us] : sorted)
    rows.Add(CoreWord(store.Text(core), is_cpu), RoundTo(total_us, 2));
  return rows.Take();
}

table::Table GroupTable(const TraceStore& store, const std::vector<OperatorGroup>& groups) {
  TableRows rows("groups", {TextColumn("Type"), TextColumn("Name"), TextColumn("Input Shape"),
                            TextColumn("Accelerator Core"), IntColumn("Count"),
                            NumberColumn("Total Time(us)", 2), NumberColumn("Avg Time(us)", 2),
                            NumberColumn("Max Time(us)", 2), NumberColumn("Min Time(us)", 2)});
  const bool is_cpu = IsCpuCapture(store);
  for (const OperatorGroup& group : groups) {
    const DurationStats& s = group.stats;
    rows.Add(store.Text(group.type), store.Text(group.name), store.Text(group.shape),
             CoreWord(store.Text(group.core), is_cpu), s.count, RoundTo(NsToUs(s.total_ns), 2),
             RoundTo(NsToUs(s.total_ns) / static_cast<double>(s.count), 2),
             RoundTo(NsToUs(s.max_ns), 2), RoundTo(NsToUs(s.min_ns), 2));
  }
  return rows.Take();
}

// The kernels of the grouping, in the call's range and step.
Result<std::vector<uint32_t>> Population(const MetricCall& call, const TraceStore& store,
                                         const OperatorGrouping& by) {
  SL_ASSIGN_OR_RETURN(const TimeRange range, RangeOf(call));
  SL_ASSIGN_OR_RETURN(const std::optional<int64_t> step, StepOf(call));
  return OperatorKernels(store, range, step, by);
}

// The statistics have the collectives of a GPU among the kernels, and none of Ascend.
std::string QueryFor(const TraceStore& store, const OperatorGrouping& by) {
  const int64_t rank = store.info.rank;
  if (by.is_communication) {
    return fmt::format(
        "SELECT * FROM kernels WHERE rank = {} AND (core IN ('HCCL', 'COMMUNICATION') OR name LIKE "
        "'nccl%')",
        rank);
  }
  if (DetectPlatform(store, ClassifyTracks(store)) != Platform::kGpu) {
    const std::string_view table = by.by_type ? "op_stats" : "kernel_stats_by_shape";
    return fmt::format("SELECT * FROM {} WHERE Rank = {}", table, rank);
  }
  const std::string_view table = by.by_type ? "kernel_stats_by_name" : "kernel_stats_by_shape";
  return fmt::format("SELECT * FROM {} WHERE Rank = {} AND Name NOT LIKE 'nccl%'", table, rank);
}

}  // namespace

Result<MetricAnswer> OperatorGroups(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const TraceStore* const store, RankOf(call));
  SL_ASSIGN_OR_RETURN(const OperatorGrouping by, GroupingOf(call));
  SL_ASSIGN_OR_RETURN(const int64_t top, call.args.IntOr("top", 15));
  SL_ASSIGN_OR_RETURN(const std::vector<uint32_t> rows, Population(call, *store, by));
  std::vector<OperatorGroup> groups = GroupOperators(*store, rows, by);
  // The ring is of all rows, also of those that the table leaves out.
  table::Table cores = CoreTable(*store, groups);
  if (top >= 0 && static_cast<size_t>(top) < groups.size()) {
    groups.resize(static_cast<size_t>(top));
  }
  MetricAnswer answer;
  answer.definition = "insight.operator_groups";
  answer.query = QueryFor(*store, by);
  answer.tables.push_back(GroupTable(*store, groups));
  answer.tables.push_back(PieTable(*store, groups, by));
  answer.tables.push_back(std::move(cores));
  if (rows.empty()) {
    answer.warnings.push_back(by.is_communication ? Message{"warning.no_communication_operators"}
                                                  : Message{"warning.no_kernels"});
  }
  return answer;
}

Result<MetricAnswer> OperatorDetails(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const TraceStore* const store, RankOf(call));
  SL_ASSIGN_OR_RETURN(const OperatorGrouping by, GroupingOf(call));
  SL_ASSIGN_OR_RETURN(const int64_t origin_ns, OriginOf(call));
  SL_ASSIGN_OR_RETURN(std::vector<uint32_t> rows, Population(call, *store, by));
  // The members of a group: each key given must be equal.
  if (call.args.Has("type")) {
    SL_ASSIGN_OR_RETURN(const std::string wanted, call.args.TextOr("type", ""));
    std::erase_if(rows, [&](uint32_t row) {
      return store->Text(OperatorTypeOf(store->kernels, row)) != wanted;
    });
  }
  const std::pair<const char*, const store::Column<StringId>*> keys[] = {
      {"name", &store->kernels.name},
      {"shape", &store->kernels.input_shapes},
      {"core", &store->kernels.core}};
  for (const auto& [key, column] : keys) {
    if (!call.args.Has(key)) continue;
    SL_ASSIGN_OR_RETURN(const std::string wanted, call.args.TextOr(key, ""));
    const bool is_cpu_core = column == &store->kernels.core && wanted == kCpuCore;
    std::erase_if(rows, [&](uint32_t row) {
      const std::string_view text = store->Text((*column)[row]);
      return text != wanted && !(is_cpu_core && CoreWord(text, true) == wanted);
    });
  }
  std::stable_sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
    return store->kernels.dur_ns[a] > store->kernels.dur_ns[b];
  });
  MetricAnswer answer;
  answer.definition = "insight.operator_details";
  answer.query =
      fmt::format("SELECT * FROM kernels WHERE rank = {} ORDER BY dur_ns DESC", store->info.rank);
  answer.tables.push_back(KernelTable(*store, rows, {"operator_details", origin_ns, true}));
  return answer;
}

}  // namespace steplens::analysis::viewer
