#include "table/csv.h"

#include <cmath>

#include "base/csv.h"
#include "table/python_double.h"

namespace steplens::table {

namespace {

std::string PythonDouble(double value) {
  std::string text;
  if (std::isfinite(value)) AppendPythonDouble(text, value);
  return text;
}

}  // namespace

std::string ToCsv(const Table& table) { return ToCsv(table, {}); }

std::string ToCsv(const Table& table, const CsvOptions& options) {
  std::string out;
  const auto& columns = table.columns();
  const auto append_text = [&](std::string_view text) {
    options.guards_formulas ? AppendCsvCell(out, GuardedCell(text)) : AppendCsvCell(out, text);
  };
  for (size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) out += ',';
    append_text(columns[i].name);
  }
  const std::string_view line_end = options.crlf ? "\r\n" : "\n";
  out += line_end;
  for (size_t row = 0; row < table.rows(); ++row) {
    for (size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) out += ',';
      const bool is_python = options.python_doubles && columns[i].type == CellType::kDouble;
      if (columns[i].type == CellType::kInt && columns[i].ints[row] == kNull) {
        append_text(options.null_text);
        continue;
      }
      append_text(is_python ? PythonDouble(columns[i].doubles[row]) : CellText(columns[i], row));
    }
    out += line_end;
  }
  return out;
}

}  // namespace steplens::table
