#include "cli/compare_console.h"

#include <algorithm>
#include <vector>

#include "table/display_width.h"

namespace steplens::cli {
namespace {

std::string Centred(const std::string& text, size_t width) {
  const size_t used = table::DisplayWidth(text);
  const size_t room = width - std::min(width, used);
  return std::string(room / 2, ' ') + text + std::string(room - room / 2, ' ');
}

}  // namespace

std::string FramedTable(const table::Table& table) {
  const auto& columns = table.columns();
  std::vector<size_t> widths;
  std::string line = "+";
  for (const table::Column& column : columns) {
    size_t width = table::DisplayWidth(column.name);
    for (size_t row = 0; row < table.rows(); ++row) {
      width = std::max(width, table::DisplayWidth(table::ToPrintable(CellText(column, row))));
    }
    widths.push_back(width);
    line += std::string(width + 2, '-') + "+";
  }
  line += "\n";
  const size_t inner = line.size() - 3;
  std::string out = "+" + std::string(inner, '-') + "+\n";
  out += "|" + Centred(table.name(), inner) + "|\n" + line;
  const auto add_row = [&](const auto& text_of) {
    out += "|";
    for (size_t i = 0; i < columns.size(); ++i) {
      out += " " + Centred(text_of(columns[i]), widths[i]) + " |";
    }
    out += "\n";
  };
  add_row([](const table::Column& column) { return column.name; });
  out += line;
  for (size_t row = 0; row < table.rows(); ++row) {
    add_row([&](const table::Column& column) { return table::ToPrintable(CellText(column, row)); });
  }
  return out + line;
}

}  // namespace steplens::cli
