#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare/compare_sheets.h"
#include "analysis/compare/report/step_account.h"
#include "analysis/compare/runs/noise.h"
#include "analysis/text/message.h"
#include "table/html/page.h"
#include "table/html/text.h"

namespace steplens::analysis::compare {

struct ReportInput {
  ReportSide base;        // A
  ReportSide comparison;  // B
  const SheetResult& sheets;
  const SheetOptions& options;
  runs::NoiseOptions noise{};
  // Of folders of many ranks, the whole jobs: runs::ComparisonTables. Else empty.
  std::vector<table::Table> job{};
};

// The comparison of two ranks as one HTML page that needs nothing else, in English and Chinese:
// where the difference of a step comes from, what came, went or changed, memory, and the timelines
// around the largest difference. `language`: the one it opens in.
std::string CompareReport(const ReportInput& input, table::html::Language language);

// Both languages of a message.
table::html::Text InBoth(const Message& message);

// The Chinese of the words in tables of a comparison: the entries below compare.word of the
// catalogue.
const table::html::TableWords& ComparisonWords();

// A table with its words in a language; cells of word columns as well.
table::Table InLanguage(const table::Table& table, Language language);

}  // namespace steplens::analysis::compare
