#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/compare/overall.h"
#include "analysis/compare/sheet.h"
#include "analysis/compare/sheet_options.h"
#include "analysis/facts/rank_view.h"
#include "base/status.h"

namespace steplens::analysis::compare {

// Two ranks compared.
struct SheetResult {
  std::vector<ResultSheet> sheets;            // in the order of the workbook, without empty ones
  std::optional<table::Table> summary{};      // the console's table
  std::optional<table::Table> regressions{};  // the largest ones; not under compat
  std::vector<std::string> notes{};           // what could not be compared and why, a sentence each
};

// kInvalidArgument for a step that a side does not have, kNotFound where a side has nothing that
// could be compared.
Result<SheetResult> CompareSheets(const RankView& base, const RankView& comparison,
                                  const SheetOptions& options);

}  // namespace steplens::analysis::compare
