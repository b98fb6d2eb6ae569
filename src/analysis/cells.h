#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "store/maybe.h"
#include "table/table.h"

namespace steplens::analysis {

inline constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

// The reference viewer rounds in SQL, with an SQLite that takes the double as it is: half away from
// zero, but 252.385 is a little less than that and becomes 252.38.
inline double RoundTo(double value, int decimals) {
  if (!std::isfinite(value)) return value;
  long double scale = 1;
  for (int i = 0; i < decimals; ++i) scale *= 10;
  const long double scaled = std::fabs(static_cast<long double>(value)) * scale;
  if (scaled > 1e15L) return value;
  return std::copysign(static_cast<double>(std::floor(scaled + 0.5L) / scale), value);
}

inline double NsToUs(int64_t ns) { return static_cast<double>(ns) / 1000; }
inline double NsToMs(int64_t ns) { return static_cast<double>(ns) / 1000000; }
// Of what may be missing: it is asked for first.
double NsToUs(store::MaybeInt) = delete;
double NsToMs(store::MaybeInt) = delete;
double BytesToMb(store::MaybeInt) = delete;
inline double BytesToMb(int64_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0); }
// 0 for a whole of 0.
inline double Share(double part, double whole) { return whole > 0 ? part / whole : 0; }

// A column of a table that is filled row by row.
struct ColumnSpec {
  std::string name;
  table::CellType type = table::CellType::kText;
  int decimals = 3;
};
inline ColumnSpec TextColumn(std::string name) { return {std::move(name), table::CellType::kText}; }
inline ColumnSpec IntColumn(std::string name) { return {std::move(name), table::CellType::kInt}; }
inline ColumnSpec TimeColumn(std::string name) {
  return {std::move(name), table::CellType::kTimeUs};
}
inline ColumnSpec NumberColumn(std::string name, int decimals) {
  return {std::move(name), table::CellType::kDouble, decimals};
}

// Fills a table with one call a row. Cells come in the order of the columns: texts for text
// columns, numbers for the others (int64 ns in time columns; store::kNone and NaN are empty).
class TableRows {
 public:
  TableRows(std::string name, std::initializer_list<ColumnSpec> columns) : table_(std::move(name)) {
    for (const ColumnSpec& column : columns) Column(column);
  }
  void Column(const ColumnSpec& column) {
    table_.AddColumn(column.name, column.type, column.decimals);
  }

  template <typename... Cells>
  void Add(const Cells&... cells) {
    size_t column = 0;
    (Cell(column++, cells), ...);
  }
  // One cell of the row being filled, for columns beyond those given to Add.
  template <typename T>
  void Cell(size_t column, const T& value) {
    if constexpr (std::is_convertible_v<T, std::string_view>) {
      table_.AppendText(column, value);
    } else if constexpr (store::IsMaybe<T>) {
      table_.columns()[column].type == table::CellType::kDouble
          ? table_.AppendDouble(column,
                                value.is_known() ? static_cast<double>(value.value()) : kNoNumber)
          : table_.AppendInt(column, value);
    } else if (table_.columns()[column].type == table::CellType::kDouble) {
      table_.AppendDouble(column, static_cast<double>(value));
    } else {
      table_.AppendInt(column, static_cast<int64_t>(value));
    }
  }
  table::Table Take() { return std::move(table_); }

 private:
  table::Table table_;
};

}  // namespace steplens::analysis
