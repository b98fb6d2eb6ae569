#include "mcp/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace steplens::mcp {
namespace {

constexpr size_t kLongestLine = 1200;
constexpr size_t kLongestCell = 160;

bool HasValues(const table::Column& column) {
  for (size_t row = 0; row < column.size(); ++row) {
    if (!table::CellText(column, row).empty()) return true;
  }
  return column.size() == 0;
}

// A cell on one line.
std::string CellOnLine(const table::Column& column, size_t row) {
  std::string text = Shortened(table::CellText(column, row), kLongestCell);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return text;
}

std::string RowText(const std::vector<const table::Column*>& columns, size_t row) {
  std::string out;
  for (const table::Column* column : columns) {
    if (column != columns.front()) out += " | ";
    out += CellOnLine(*column, row);
  }
  return out;
}

}  // namespace

std::string Shortened(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  size_t end = most - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end)) + "...";
}

void Answer::Line(std::string_view text) {
  std::string line = Shortened(text, kLongestLine);
  if (text_.size() + line.size() + 1 > kMaxChars) {
    is_cut_ = true;
    return;
  }
  text_ += line;
  text_ += '\n';
}

void Answer::Table(const table::Table& table, size_t limit, size_t offset, std::string_view title) {
  if (!title.empty()) Line(fmt::format("{}:", title));
  if (table.rows() == 0) {
    Line("(no rows)");
    return;
  }
  std::vector<const table::Column*> columns;
  std::string header;
  for (const table::Column& column : table.columns()) {
    if (!HasValues(column)) continue;
    if (!columns.empty()) header += " | ";
    header += column.name;
    columns.push_back(&column);
  }
  Line(header);
  constexpr size_t kRoomForCount = 60;
  const size_t end = std::min(table.rows(), offset + std::min(limit, table.rows()));
  size_t row = offset;
  for (; row < end; ++row) {
    const std::string line = RowText(columns, row);
    if (text_.size() + line.size() + kRoomForCount > kMaxChars) break;
    text_ += line;
    text_ += '\n';
  }
  if (offset >= table.rows()) {
    Line(fmt::format("(offset {} is behind the last of {} rows)", offset, table.rows()));
  } else if (offset > 0 || row < table.rows()) {
    text_ += fmt::format("(rows {}-{} of {})\n", offset + 1, row, table.rows());
  }
}

void Answer::Query(std::string_view sql) { Line(fmt::format("sql: {}", sql)); }

std::string Answer::Take() {
  if (is_cut_)
    text_ += "(cut here: answers hold 7,600 characters; ask for less, e.g. one rank or table)\n";
  return std::move(text_);
}

}  // namespace steplens::mcp
