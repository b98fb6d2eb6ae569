#include "analysis/compare/sheet.h"

namespace steplens::analysis::compare {

table::Table WithUniqueNames(const ResultSheet& sheet) {
  table::Table unique(sheet.table.name());
  const auto& columns = sheet.table.columns();
  const auto is_in = [](size_t i, const ColumnRange& range) {
    return i >= range.first && i <= range.last;
  };
  for (size_t i = 0; i < columns.size(); ++i) {
    table::Column column = columns[i];
    if (is_in(i, sheet.base) && !column.name.starts_with("Base ")) {
      column.name = "Base " + column.name;
    } else if (is_in(i, sheet.comparison) && !column.name.starts_with("Comparison ")) {
      column.name = "Comparison " + column.name;
    }
    unique.AddColumn(std::move(column));
  }
  return unique;
}

}  // namespace steplens::analysis::compare
