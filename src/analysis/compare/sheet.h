#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare/rounding.h"
#include "table/table.h"

namespace steplens::analysis::compare {

// Columns [first, last] of a sheet that belong to one side.
struct ColumnRange {
  size_t first = 0;
  size_t last = 0;
  bool empty() const { return first > last; }
};
inline constexpr ColumnRange kNoColumns{1, 0};

// One sheet of the workbook. Both sides have columns of the same names.
struct ResultSheet {
  explicit ResultSheet(std::string name) : table(std::move(name)) {}

  table::Table table;
  ColumnRange base{};
  ColumnRange comparison{};
  std::vector<int> levels{};  // OverallMetrics: of each row, how far its label is indented
};

// A sheet's table with names that are unique, for formats that need that: the columns of the sides
// are called "Base ..." and "Comparison ...".
table::Table WithUniqueNames(const ResultSheet& sheet);

// Fills a sheet row by row, cell by cell.
class SheetWriter {
 public:
  explicit SheetWriter(ResultSheet& sheet) : table_(sheet.table) {}

  // What a column holds: its header, behind 'i' for integers, 'd' for doubles or 't' for texts.
  void AddColumns(std::initializer_list<std::string_view> columns) {
    for (const std::string_view column : columns) {
      const table::CellType type = column.front() == 'i'   ? table::CellType::kInt
                                   : column.front() == 'd' ? table::CellType::kDouble
                                                           : table::CellType::kText;
      table_.AddColumn(std::string(column.substr(1)), type, 4);
    }
  }

  SheetWriter& Int(int64_t value) {
    table_.AppendInt(Next(), value);
    return *this;
  }
  SheetWriter& Double(double value) {
    table_.AppendDouble(Next(), value);
    return *this;
  }
  SheetWriter& Text(std::string_view value) {
    table_.AppendText(Next(), value);
    return *this;
  }
  // Empty cells, whatever their columns hold.
  SheetWriter& Empty(size_t count = 1) {
    for (; count > 0; --count) {
      const table::CellType type = table_.columns()[at_].type;
      if (type == table::CellType::kText) {
        Text("");
      } else if (type == table::CellType::kDouble) {
        Double(kNoValue);
      } else {
        Int(table::kNull);
      }
    }
    return *this;
  }
  // The number of the row that begins, from 1.
  SheetWriter& Order() { return Int(static_cast<int64_t>(table_.columns()[0].size()) + 1); }

 private:
  size_t Next() {
    const size_t at = at_;
    at_ = (at_ + 1) % table_.columns().size();
    return at;
  }

  table::Table& table_;
  size_t at_ = 0;
};

}  // namespace steplens::analysis::compare
