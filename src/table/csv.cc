#include "table/csv.h"

#include "base/csv.h"

namespace steplens::table {

std::string ToCsv(const Table& table) {
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
      AppendCsvCell(out, CellText(columns[i], row));
    }
    out += '\n';
  }
  return out;
}

}  // namespace steplens::table
