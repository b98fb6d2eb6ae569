#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/compare/module_sheets.h"
#include "analysis/compare/op_pairs.h"
#include "analysis/compare/overall.h"
#include "analysis/text/message.h"
#include "table/table.h"

namespace steplens::analysis::compare {

// One thing that takes longer in the comparison.
struct Regression {
  std::string what;   // an operator, "Free Time", ...
  std::string where;  // its module, else the innermost frame of its call stack; may be empty
  int64_t base_ns = 0;
  int64_t comparison_ns = 0;
  Message look_at;  // the kernel or collective behind it, or the sheet to open
  int64_t diff_ns() const { return comparison_ns - base_ns; }
};

struct RegressionInput {
  SideTree base;
  SideTree comparison;
  // Both or none.
  const ModuleTree* base_modules = nullptr;
  const ModuleTree* comparison_modules = nullptr;
  const Overall* base_overall = nullptr;
  const Overall* comparison_overall = nullptr;
};

// The largest increases of device time by operator and module, and of the time in which the device
// does nothing. An event of the device counts for one of them.
std::vector<Regression> FindRegressions(const RegressionInput& input, size_t limit);

// With the share of each in the difference of the whole; no shares where the whole became no
// longer.
table::Table RegressionTable(const std::vector<Regression>& regressions, int64_t total_diff_ns,
                             Language language);

}  // namespace steplens::analysis::compare
