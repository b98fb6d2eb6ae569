#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/duration_stats.h"
#include "analysis/time_range.h"
#include "base/status.h"
#include "store/trace_store.h"

namespace steplens::analysis {

// What makes kernels one operator.
struct OperatorGrouping {
  std::string_view name;          // "Computing Operator Type"
  bool is_communication = false;  // of collectives, else of all other kernels
  bool by_type = false;           // by type and core
  bool by_shape = false;          // by name, input shapes and core
  bool single_rows() const { return !by_type && !by_shape; }  // each kernel on its own
};

// One of the five groupings by its name; kInvalidArgument for any other name.
Result<OperatorGrouping> ParseOperatorGrouping(std::string_view name);

// A group; what it is not grouped by is empty.
struct OperatorGroup {
  StringId type{};
  StringId name{};
  StringId shape{};
  StringId core{};
  DurationStats stats;
};

// The type of a kernel. Kernels of a GPU have no type but their name.
StringId OperatorTypeOf(const store::KernelTable& kernels, uint32_t row);

// The rows of kernels that a grouping is about.
std::vector<uint32_t> OperatorKernels(const store::TraceStore& store, const TimeRange& range,
                                      std::optional<int64_t> step, const OperatorGrouping& by);

// By total descending, then by what names them.
std::vector<OperatorGroup> GroupOperators(const store::TraceStore& store,
                                          const std::vector<uint32_t>& rows,
                                          const OperatorGrouping& by);

}  // namespace steplens::analysis
