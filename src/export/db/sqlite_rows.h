#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "store/tables.h"

namespace steplens::exporting {

// A value on its way into a table.
struct SqliteCell {
  enum class Kind : uint8_t { kNull, kInt, kIntText, kReal, kText };
  Kind kind = Kind::kNull;
  uint32_t size = 0;  // of a text
  union {
    int64_t number = 0;
    double real;
    const char* text;
  };
};

// Rows that wait to be inserted together: one statement for many of them costs half of one for
// each. Cells come row by row.
struct SqliteRows {
  static constexpr size_t kCells = 8192;  // wait at most; what fits into a core's cache

  std::vector<SqliteCell> cells;
  std::deque<std::string> texts;  // that were handed over
  size_t columns = 0;

  size_t size() const { return columns == 0 ? 0 : cells.size() / columns; }
  void Clear() {
    cells.clear();
    texts.clear();
  }
};

}  // namespace steplens::exporting
