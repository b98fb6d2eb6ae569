#include "analysis/kernels/operator_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include "analysis/kernels/kernel_rows.h"

namespace steplens::analysis {
namespace {

using store::TraceStore;

constexpr std::array<OperatorGrouping, 5> kGroupings{{
    {"Computing Operator", false, false, false},
    {"Computing Operator Type", false, true, false},
    {"Computing Operator Name and Input Shape", false, false, true},
    {"Communication Operator", true, false, false},
    {"Communication Operator Type", true, true, false},
}};

using GroupKey = std::array<StringId, 3>;

GroupKey GroupKeyOf(const store::KernelTable& kernels, uint32_t row, const OperatorGrouping& by) {
  if (by.by_type) return {OperatorTypeOf(kernels, row), kernels.core[row], StringId{}};
  return {kernels.name[row], kernels.input_shapes[row], kernels.core[row]};
}

}  // namespace

Result<OperatorGrouping> ParseOperatorGrouping(std::string_view name) {
  for (const OperatorGrouping& grouping : kGroupings) {
    if (grouping.name == name) return grouping;
  }
  return Error{
      ErrorCode::kInvalidArgument,
      fmt::format("argument 'group_by' is '{}', which is none of the five groupings", name)};
}

StringId OperatorTypeOf(const store::KernelTable& kernels, uint32_t row) {
  return kernels.type[row] == StringId::kEmpty ? kernels.name[row] : kernels.type[row];
}

std::vector<uint32_t> OperatorKernels(const TraceStore& store, const TimeRange& range,
                                      std::optional<int64_t> step, const OperatorGrouping& by) {
  const std::function<bool(size_t)> is_collective = CollectiveTest(store);
  const std::function<bool(size_t)> in_step = StepTest(store, step);
  return SelectKernels(store, range, [&](size_t row) {
    return in_step(row) && is_collective(row) == by.is_communication;
  });
}

std::vector<OperatorGroup> GroupOperators(const TraceStore& store,
                                          const std::vector<uint32_t>& rows,
                                          const OperatorGrouping& by) {
  const store::KernelTable& kernels = store.kernels;
  std::vector<OperatorGroup> groups;
  std::map<GroupKey, size_t> index;
  for (const uint32_t i : rows) {
    size_t place = groups.size();
    if (!by.single_rows())
      place = index.try_emplace(GroupKeyOf(kernels, i, by), place).first->second;
    if (place == groups.size()) {
      OperatorGroup& group = groups.emplace_back();
      group.core = kernels.core[i];
      group.type = OperatorTypeOf(kernels, i);
      if (!by.by_type) group.name = kernels.name[i];
      if (!by.by_type) group.shape = kernels.input_shapes[i];
    }
    groups[place].stats.Add(kernels.dur_ns[i]);
  }
  std::stable_sort(groups.begin(), groups.end(), [&](const auto& a, const auto& b) {
    if (a.stats.total_ns != b.stats.total_ns) return a.stats.total_ns > b.stats.total_ns;
    return store.Text(by.by_type ? a.type : a.name) < store.Text(by.by_type ? b.type : b.name);
  });
  return groups;
}

}  // namespace steplens::analysis
