#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/advice/rules/chip_cores.h"
#include "analysis/advice/rules/kernel_counters.h"
#include "analysis/advice/rules/rules.h"
#include "analysis/cells.h"
#include "analysis/time_math.h"

// Rules that judge kernels one by one: how they were launched, how many cores they fill, which of
// their pipes is busy.

namespace steplens::analysis {
namespace {

// A kernel that a rule lists, and what it could save.
struct ListedKernel {
  uint32_t kernel = 0;
  double income_ns = 0;
};

bool CountsKernel(const RankEvidence& rank, uint32_t row) {
  const store::KernelTable& kernels = rank.store().kernels;
  return kernels.begin_ns[row] != store::kNone && kernels.dur_ns[row] != store::kNone &&
         kernels.dur_ns[row] > 0 && rank.IsKernelInSteps(row);
}

// "MatMulV2, Add": the types of the listed kernels, those that take longest first.
std::string TypesOf(const RankEvidence& rank, const std::vector<ListedKernel>& listed) {
  const store::KernelTable& kernels = rank.store().kernels;
  std::map<std::string_view, int64_t> by_type;
  for (const ListedKernel& one : listed) {
    int64_t& sum_ns = by_type[rank.store().Text(kernels.type[one.kernel])];
    sum_ns = AddNs(sum_ns, kernels.dur_ns[one.kernel].value());
  }
  std::vector<std::pair<std::string_view, int64_t>> types(by_type.begin(), by_type.end());
  std::stable_sort(types.begin(), types.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  constexpr size_t kShownTypes = 5;
  std::string text;
  for (size_t i = 0; i < std::min(types.size(), kShownTypes); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", types[i].first);
  return types.size() > kShownTypes ? text + ", ..." : text;
}

// One row per listed kernel, the longest first.
table::Table ListedTable(const RankEvidence& rank, RuleId rule, std::vector<ListedKernel> listed) {
  const store::TraceStore& store = rank.store();
  const store::KernelTable& k = store.kernels;
  std::stable_sort(listed.begin(), listed.end(), [&](const ListedKernel& a, const ListedKernel& b) {
    return k.dur_ns[a.kernel] > k.dur_ns[b.kernel];
  });
  const KernelCounters counters(store);
  TableRows rows(rank.DetailName(rule),
                 {TextColumn("op_name"),           TextColumn("op_type"),
                  TextColumn("task_type"),         TimeColumn("task_duration(us)"),
                  NumberColumn("income(us)", 3),   IntColumn("block_dim"),
                  IntColumn("mix_block_dim"),      NumberColumn("vec_ratio", 3),
                  NumberColumn("mac_ratio", 3),    NumberColumn("scalar_ratio", 3),
                  NumberColumn("mte1_ratio", 3),   NumberColumn("mte2_ratio", 3),
                  NumberColumn("mte3_ratio", 3),   NumberColumn("fixpipe_ratio", 3),
                  TextColumn("input_shapes"),      TextColumn("input_data_types"),
                  TextColumn("input_formats"),     TextColumn("output_shapes"),
                  TextColumn("output_data_types"), TextColumn("output_formats")});
  for (const ListedKernel& one : listed) {
    const uint32_t i = one.kernel;
    rows.Add(store.Text(k.name[i]), store.Text(k.type[i]), store.Text(k.core[i]), k.dur_ns[i],
             one.income_ns / 1000, k.block_dim[i], k.mix_block_dim[i], counters.Pipe("vec", i),
             counters.Pipe("mac", i), counters.Pipe("scalar", i), counters.Pipe("mte1", i),
             counters.Pipe("mte2", i), counters.Pipe("mte3", i), counters.Pipe("fixpipe", i),
             store.Text(k.input_shapes[i]), store.Text(k.input_types[i]),
             store.Text(k.input_formats[i]), store.Text(k.output_shapes[i]),
             store.Text(k.output_types[i]), store.Text(k.output_formats[i]));
  }
  return rows.Take();
}

// Fills what rules that list kernels have in common.
void Complete(const RankEvidence& rank, const std::vector<ListedKernel>& listed,
              const std::string& query, Finding& finding) {
  const store::KernelTable& kernels = rank.store().kernels;
  int64_t sum_ns = 0;
  double income_ns = 0;
  uint32_t longest = listed.front().kernel;
  for (const ListedKernel& one : listed) {
    sum_ns = AddNs(sum_ns, kernels.dur_ns[one.kernel].value());
    income_ns += one.income_ns;
    if (kernels.dur_ns[one.kernel] > kernels.dur_ns[longest]) longest = one.kernel;
  }
  finding.saving = rank.AtMost(static_cast<int64_t>(income_ns), sum_ns);
  finding.effort = Effort::kModel;
  finding.places = {rank.PlaceOfKernel(longest)};
  finding.details = {ListedTable(rank, finding.rule, listed)};
  finding.evidence = {
      {{"evidence.kernels",
        {{"count", std::to_string(listed.size())}, {"time", SentenceTime(rank.PerStepUs(sum_ns))}}},
       query}};
}

bool IsCubeCore(std::string_view core) { return core == "AI_CORE"; }
bool IsAnyAiCore(std::string_view core) {
  return core == "AI_CORE" || core == "AI_VECTOR_CORE" || core == "MIX_AIC";
}

}  // namespace

std::vector<Finding> FindDynamicShapes(const RankEvidence& rank) {
  const store::TraceStore& store = rank.store();
  size_t dynamic = 0;
  for (uint32_t i = 0; i < store.kernels.size(); ++i) {
    const std::string_view state = store.Text(store.kernels.state[i]);
    if (state.empty() || state == "N/A") continue;  // not recorded: nothing can be said
    if (state != "dynamic") return {};
    ++dynamic;
  }
  if (dynamic == 0) return {};
  Finding finding =
      rank.Make(RuleId::kDynamicShape, {"finding.dynamic_shape"},
                {"finding.dynamic_shape.reason", {{"count", std::to_string(dynamic)}}},
                {"finding.dynamic_shape.advice"});
  finding.effort = Effort::kSetting;
  finding.evidence = {
      {{"evidence.kernel_count", {{"count", std::to_string(dynamic)}}},
       fmt::format("SELECT state, count(*) FROM kernels WHERE rank = {} GROUP BY state",
                   rank.rank())}};
  return {finding};
}

std::vector<Finding> FindUnfilledCores(const RankEvidence& rank) {
  const ChipCores chip = ChipOf(rank);
  if (chip.cube <= 0) return {};
  const store::TraceStore& store = rank.store();
  const store::KernelTable& kernels = store.kernels;
  std::vector<ListedKernel> listed;
  for (uint32_t i = 0; i < kernels.size(); ++i) {
    const std::string_view core = store.Text(kernels.core[i]);
    if (!IsAnyAiCore(core) || !CountsKernel(rank, i)) continue;
    const int64_t cores = IsCubeCore(core) || chip.vector <= 0 ? chip.cube : chip.vector;
    const int64_t used = kernels.block_dim[i];
    if (used <= 0 || used % cores == 0) continue;
    if (core == "MIX_AIC" && chip.vector > 0 && kernels.mix_block_dim[i] > 0 &&
        kernels.mix_block_dim[i].value() % chip.vector == 0) {
      continue;
    }
    // A last round of blocks that fills a part of the cores only.
    const int64_t rounds = (used + cores - 1) / cores;
    const double income_ns = static_cast<double>(kernels.dur_ns[i].value()) *
                             (1 - static_cast<double>(used) / static_cast<double>(rounds * cores));
    if (income_ns >= rank.thresholds().block_dim_income_us * 1000) listed.push_back({i, income_ns});
  }
  if (listed.empty()) return {};
  Finding finding = rank.Make(RuleId::kBlockDim, {"finding.block_dim"},
                              {"finding.block_dim.reason",
                               {{"cube", std::to_string(chip.cube)},
                                {"vector", std::to_string(chip.vector)},
                                {"types", TypesOf(rank, listed)}}},
                              {"finding.block_dim.advice"});
  Complete(rank, listed,
           fmt::format("SELECT * FROM kernels WHERE rank = {} AND block_dim % {} <> 0", rank.rank(),
                       chip.cube),
           finding);
  return {finding};
}

std::vector<Finding> FindUnboundKernels(const RankEvidence& rank) {
  const store::TraceStore& store = rank.store();
  const KernelCounters counters(store);
  if (counters.empty()) return {};
  const bool as_reference = rank.settings().as_reference;
  const double limit = rank.thresholds().no_bound_ratio;
  std::vector<ListedKernel> listed;
  for (uint32_t i = 0; i < store.kernels.size(); ++i) {
    if (!CountsKernel(rank, i)) continue;
    double most = 0;
    for (const std::string_view pipe : {"vec", "mac", "scalar", "mte1", "mte2", "mte3"})
      most = std::max(most, counters.Pipe(pipe, i, as_reference));
    if (!as_reference) most = std::max(most, counters.Pipe("fixpipe", i));
    const bool is_unbound = most > 0 && most <= limit;
    // The reference judges all by the first one.
    if (as_reference && i == 0 && !is_unbound) return {};
    if (!is_unbound) continue;
    if (NsToUs(store.kernels.dur_ns[i].value()) <= rank.thresholds().no_bound_kernel_us) continue;
    listed.push_back(
        {i, static_cast<double>(store.kernels.dur_ns[i].value()) * (1 - most / limit)});
  }
  if (listed.empty()) return {};
  Finding finding = rank.Make(
      RuleId::kNoBound, {"finding.no_bound"},
      {"finding.no_bound.reason",
       {{"percent", fmt::format("{:.0f}", 100 * limit)}, {"types", TypesOf(rank, listed)}}},
      {"finding.no_bound.advice"});
  Complete(rank, listed,
           fmt::format("SELECT * FROM kernels WHERE rank = {} AND dur_ns > {:.0f}", rank.rank(),
                       rank.thresholds().no_bound_kernel_us * 1000),
           finding);
  return {finding};
}

}  // namespace steplens::analysis
