#include "table/csv.h"

#include "base/csv.h"

namespace steplens::table {

namespace {

bool IsWhole(std::string_view number) {
  return !number.empty() && number.find_first_not_of("-0123456789") == std::string_view::npos;
}

}  // namespace

std::string ToCsv(const Table& table) { return ToCsv(table, {}); }

std::string ToCsv(const Table& table, const CsvOptions& options) {
  std::string out;
  const auto& columns = table.columns();
  for (size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) out += ',';
    AppendCsvCell(out, columns[i].name);
  }
  out += '\n';
  for (size_t row = 0; row < table.rows(); ++row) {
    for (size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) out += ',';
      const std::string text = CellText(columns[i], row);
      AppendCsvCell(out, text);
      if (options.whole_doubles_with_point && columns[i].type == CellType::kDouble && IsWhole(text))
        out += ".0";
    }
    out += '\n';
  }
  return out;
}

}  // namespace steplens::table
