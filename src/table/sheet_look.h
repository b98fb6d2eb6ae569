#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace steplens::table {

inline constexpr uint32_t kNoFill = 0xFFFFFFFF;

// A text over several columns, in the first row of a sheet.
struct Banner {
  size_t first_column = 0;
  size_t last_column = 0;
  std::string text;
  uint32_t fill = kNoFill;  // RGB
};

struct ColumnLook {
  std::string number_format;  // as Excel writes them: "#,##0.00"
  std::string marked_format;  // of marked cells; empty: the same
  bool is_bold = false;
  bool marks_above_one = false;  // numbers above 1, and INF, are red
  uint32_t header_fill = kNoFill;
  std::string null_text;  // what an empty number is shown as
};

struct RowLook {
  uint32_t fill = kNoFill;
  int indent = 0;  // of the first cell
};

// How a sheet looks that is laid out for people: banners, an empty row, the header in the third
// row, data below. Cells are left-aligned in Arial 11, with thin borders. Without filters.
struct SheetLook {
  std::vector<Banner> banners;
  std::vector<ColumnLook> columns;  // as many as the table has
  std::vector<RowLook> rows;        // as many as the table has, or none
  uint32_t mark_fill = 0xFF0000;
};

}  // namespace steplens::table
