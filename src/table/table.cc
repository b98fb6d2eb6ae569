#include "table/table.h"

#include <cmath>

#include "base/number.h"

namespace steplens::table {

size_t Column::size() const {
  switch (type) {
    case CellType::kInt:
    case CellType::kTimeUs:
      return ints.size();
    case CellType::kDouble:
      return doubles.size();
    case CellType::kText:
      return texts.size();
  }
  return 0;
}

size_t Table::AddColumn(std::string name, CellType type, int decimals) {
  Column column;
  column.name = std::move(name);
  column.type = type;
  column.decimals = decimals;
  return AddColumn(std::move(column));
}

size_t Table::AddColumn(Column column) {
  columns_.push_back(std::move(column));
  return columns_.size() - 1;
}

const Column* Table::Find(std::string_view column_name) const {
  for (const Column& column : columns_) {
    if (column.name == column_name) return &column;
  }
  return nullptr;
}

void Table::Truncate(size_t count) {
  for (Column& column : columns_) {
    if (column.ints.size() > count) column.ints.resize(count);
    if (column.doubles.size() > count) column.doubles.resize(count);
    if (column.texts.size() > count) column.texts.resize(count);
  }
}

std::string CellText(const Column& column, size_t row) {
  switch (column.type) {
    case CellType::kInt:
      return column.ints[row] == kNull ? "" : std::to_string(column.ints[row]);
    case CellType::kTimeUs:
      return column.ints[row] == kNull ? "" : FormatNsAsUs(column.ints[row]);
    case CellType::kDouble:
      if (std::isinf(column.doubles[row])) return column.doubles[row] > 0 ? "INF" : "-INF";
      return std::isnan(column.doubles[row]) ? "" : FormatDouble(column.doubles[row]);
    case CellType::kText:
      return column.texts[row];
  }
  return "";
}

}  // namespace steplens::table
