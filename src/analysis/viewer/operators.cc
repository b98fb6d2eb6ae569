#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "analysis/classify/classify.h"
#include "analysis/classify/cpu_words.h"
#include "analysis/duration_stats.h"
#include "analysis/time_math.h"
#include "analysis/viewer/cells.h"
#include "analysis/viewer/kernel_rows.h"
#include "analysis/viewer/metrics.h"

// The Operator page: kernels of a rank grouped five ways.

namespace steplens::analysis::viewer {
namespace {

using store::TraceStore;

struct Grouping {
  std::string_view name;
  bool is_communication;
  bool by_type;
  bool by_shape;
  bool single_rows() const { return !by_type && !by_shape; }
};
constexpr std::array<Grouping, 5> kGroupings{{
    {"Computing Operator", false, false, false},
    {"Computing Operator Type", false, true, false},
    {"Computing Operator Name and Input Shape", false, false, true},
    {"Communication Operator", true, false, false},
    {"Communication Operator Type", true, true, false},
}};

Result<Grouping> ParseGrouping(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const std::string name,
                      call.args.TextOr("group_by", "Computing Operator Type"));
  for (const Grouping& grouping : kGroupings) {
    if (grouping.name == name) return grouping;
  }
  return Error{
      ErrorCode::kInvalidArgument,
      fmt::format("argument 'group_by' is '{}', which is none of the five groupings", name)};
}

// A row of the statistic table.
struct Group {
  StringId type{};
  StringId name{};
  StringId shape{};
  StringId core{};
  DurationStats stats;
};

using GroupKey = std::array<StringId, 3>;

// Kernels of a GPU have no type but their name.
StringId TypeOf(const store::KernelTable& kernels, uint32_t i) {
  return kernels.type[i] == StringId::kEmpty ? kernels.name[i] : kernels.type[i];
}

GroupKey KeyOf(const store::KernelTable& kernels, uint32_t i, const Grouping& by) {
  if (by.by_type) return {TypeOf(kernels, i), kernels.core[i], StringId{}};
  return {kernels.name[i], kernels.input_shapes[i], kernels.core[i]};
}

// By total descending, then by what names them.
std::vector<Group> GroupKernels(const TraceStore& store, const std::vector<uint32_t>& rows,
                                const Grouping& by) {
  const store::KernelTable& kernels = store.kernels;
  std::vector<Group> groups;
  std::map<GroupKey, size_t> index;
  for (const uint32_t i : rows) {
    size_t place = groups.size();
    if (!by.single_rows()) place = index.try_emplace(KeyOf(kernels, i, by), place).first->second;
    if (place == groups.size()) {
      Group& group = groups.emplace_back();
      group.core = kernels.core[i];
      group.type = TypeOf(kernels, i);
      if (!by.by_type) group.name = kernels.name[i];
      if (!by.by_type) group.shape = kernels.input_shapes[i];
    }
    groups[place].stats.Add(kernels.dur_ns[i]);
  }
  std::stable_sort(groups.begin(), groups.end(), [&](const Group& a, const Group& b) {
    if (a.stats.total_ns != b.stats.total_ns) return a.stats.total_ns > b.stats.total_ns;
    return store.Text(by.by_type ? a.type : a.name) < store.Text(by.by_type ? b.type : b.name);
  });
  return groups;
}

std::string SectorName(const TraceStore& store, const Group& group, const Grouping& by) {
  if (by.by_type) return std::string(store.Text(group.type));
  std::string name(store.Text(group.name));
  if (by.by_shape) name += "[\"" + std::string(store.Text(group.shape)) + "\"]";
  return name;
}

// At most 50 sectors, the last one holding the rest.
table::Table PieTable(const TraceStore& store, const std::vector<Group>& groups,
                      const Grouping& by) {
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
table::Table CoreTable(const TraceStore& store, const std::vector<Group>& groups) {
  std::map<StringId, double> totals_us;
  for (const Group& group : groups) {
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

table::Table GroupTable(const TraceStore& store, const std::vector<Group>& groups) {
  TableRows rows("groups", {TextColumn("Type"), TextColumn("Name"), TextColumn("Input Shape"),
                            TextColumn("Accelerator Core"), IntColumn("Count"),
                            NumberColumn("Total Time(us)", 2), NumberColumn("Avg Time(us)", 2),
                            NumberColumn("Max Time(us)", 2), NumberColumn("Min Time(us)", 2)});
  const bool is_cpu = IsCpuCapture(store);
  for (const Group& group : groups) {
    const DurationStats& s = group.stats;
    rows.Add(store.Text(group.type), store.Text(group.name), store.Text(group.shape),
             CoreWord(store.Text(group.core), is_cpu), s.count, RoundTo(NsToUs(s.total_ns), 2),
             RoundTo(NsToUs(s.total_ns) / static_cast<double>(s.count), 2),
             RoundTo(NsToUs(s.max_ns), 2), RoundTo(NsToUs(s.min_ns), 2));
  }
  return rows.Take();
}

// The kernels of the grouping's population.
Result<std::vector<uint32_t>> Population(const MetricCall& call, const TraceStore& store,
                                         const Grouping& by) {
  SL_ASSIGN_OR_RETURN(const TimeRange range, RangeOf(call));
  SL_ASSIGN_OR_RETURN(const std::optional<int64_t> step, StepOf(call));
  const std::function<bool(size_t)> is_collective = CollectiveTest(store);
  const std::function<bool(size_t)> in_step = StepTest(store, step);
  return SelectKernels(store, range, [&](size_t row) {
    return in_step(row) && is_collective(row) == by.is_communication;
  });
}

// The statistics have the collectives of a GPU among the kernels, and none of Ascend.
std::string QueryFor(const TraceStore& store, const Grouping& by) {
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
  SL_ASSIGN_OR_RETURN(const Grouping by, ParseGrouping(call));
  SL_ASSIGN_OR_RETURN(const int64_t top, call.args.IntOr("top", 15));
  SL_ASSIGN_OR_RETURN(const std::vector<uint32_t> rows, Population(call, *store, by));
  std::vector<Group> groups = GroupKernels(*store, rows, by);
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
  SL_ASSIGN_OR_RETURN(const Grouping by, ParseGrouping(call));
  SL_ASSIGN_OR_RETURN(const int64_t origin_ns, OriginOf(call));
  SL_ASSIGN_OR_RETURN(std::vector<uint32_t> rows, Population(call, *store, by));
  // The members of a group: each key given must be equal.
  if (call.args.Has("type")) {
    SL_ASSIGN_OR_RETURN(const std::string wanted, call.args.TextOr("type", ""));
    std::erase_if(rows,
                  [&](uint32_t row) { return store->Text(TypeOf(store->kernels, row)) != wanted; });
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
