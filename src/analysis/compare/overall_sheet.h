#pragma once

#include <string>
#include <vector>

#include "analysis/compare/overall.h"
#include "analysis/compare/sheet.h"

namespace steplens::analysis::compare {

// A row of OverallMetrics.
struct OverallRow {
  std::string label;  // without the tabs
  int level = 0;
  struct Value {
    double ms = 0;
    double share = 0;              // of the side's E2E
    int64_t count = table::kNull;  // where the row has one
  };
  Value base{};
  Value comparison{};
};

// Rows that are not zero on both sides; none if a side has no E2E time.
std::vector<OverallRow> CompareOverall(const Overall& base, const Overall& comparison, bool compat);

ResultSheet OverallSheet(const std::vector<OverallRow>& rows);

// The console's table: one row per side.
table::Table OverallSummary(const Overall& base, const Overall& comparison, bool compat);

}  // namespace steplens::analysis::compare
