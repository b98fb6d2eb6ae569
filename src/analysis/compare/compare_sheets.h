#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/compare/overall.h"
#include "analysis/compare/regressions.h"
#include "analysis/compare/sheet.h"
#include "analysis/compare/sheet_options.h"
#include "analysis/facts/rank_view.h"
#include "analysis/text/message.h"
#include "base/status.h"

namespace steplens::analysis::compare {

// Two ranks compared.
struct SheetResult {
  std::vector<ResultSheet> sheets;        // in the order of the workbook, without empty ones
  std::optional<table::Table> summary{};  // the console's table
  std::vector<Regression> regressions{};  // the ten largest; none under compat
  int64_t total_diff_ns = 0;              // of the whole, of which they are shares
  std::vector<Message> notes{};           // what could not be compared and why, a sentence each
};

// The sides of a comparison as the sheets see them. kInvalidArgument for a step that one of them
// does not have.
struct SidePair {
  Side base;
  Side comparison;
};
Result<SidePair> CollectSides(const RankView& base, const RankView& comparison,
                              const SheetOptions& options);

// kNotFound where a side has nothing that could be compared.
Result<SheetResult> CompareSheets(const SidePair& sides, const SheetOptions& options);

}  // namespace steplens::analysis::compare
