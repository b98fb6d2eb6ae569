#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/compare/op_pairs.h"
#include "analysis/compare/sheet.h"

namespace steplens::analysis::compare {

// All calls of one operator of the host.
struct ApiTotals {
  std::string_view name;
  int64_t total_ns = 0;
  int64_t self_ns = 0;
  int64_t count = 0;
};

// In the order of their first calls; with a step those below it.
std::vector<ApiTotals> CollectApis(const SideTree& of, bool compat);

ResultSheet ApiSheet(const std::vector<ApiTotals>& base, const std::vector<ApiTotals>& comparison,
                     bool compat);

}  // namespace steplens::analysis::compare
