#include "table/console.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "table/display_width.h"

namespace steplens::table {
namespace {

constexpr size_t kGap = 2;            // blanks between columns
constexpr size_t kMinTextWidth = 12;  // texts are not shortened below this
constexpr size_t kBarWidth = 10;

// A column as drawn: printable texts and the columns they take.
struct Drawn {
  std::string header;
  std::vector<std::string> cells;
  bool is_number = false;
  size_t width = 0;
};

std::string ConsoleText(const Column& column, size_t row) {
  if (column.type != CellType::kDouble) return ToPrintable(CellText(column, row));
  const double value = column.doubles[row];
  if (std::isnan(value)) return "";
  // Beyond this the digits of a fixed-point form mean nothing and fill the screen.
  if (std::abs(value) >= 1e15) return fmt::format("{:g}", value);
  return fmt::format("{:.{}f}", value, column.decimals);
}

Drawn DrawColumn(const Column& column, size_t rows) {
  Drawn drawn;
  drawn.header = ToPrintable(column.name);
  drawn.is_number = column.type != CellType::kText;
  drawn.width = DisplayWidth(drawn.header);
  drawn.cells.reserve(rows);
  for (size_t row = 0; row < rows; ++row) {
    drawn.cells.push_back(ConsoleText(column, row));
    drawn.width = std::max(drawn.width, DisplayWidth(drawn.cells.back()));
  }
  return drawn;
}

// The numeric value, 0 for what cannot be drawn: empty and negative cells.
double BarValue(const Column& column, size_t row) {
  const bool is_double = column.type == CellType::kDouble;
  const double value = is_double ? column.doubles[row] : static_cast<double>(column.ints[row]);
  return std::isfinite(value) && value > 0 ? value : 0;
}

// `share` of 1 is a full bar; steps of an eighth of a character.
std::string Bar(double share) {
  static constexpr std::string_view kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<size_t>(std::lround(share * 8 * kBarWidth));
  std::string bar;
  for (size_t i = 0; i < eighths / 8; ++i) bar += "█";
  bar += kEighths[eighths % 8];
  return bar;
}

Drawn DrawBars(const Column& column, size_t rows) {
  double largest = 0;
  for (size_t row = 0; row < rows; ++row) largest = std::max(largest, BarValue(column, row));
  Drawn drawn;
  drawn.width = kBarWidth;
  for (size_t row = 0; row < rows; ++row) {
    drawn.cells.push_back(largest > 0 ? Bar(BarValue(column, row) / largest) : "");
  }
  return drawn;
}

// Lowers the widest text columns to one common width, as far as needed and as kMinTextWidth allows.
void FitTexts(std::vector<Drawn>& columns, size_t width) {
  const auto total = [&](size_t cap) {
    size_t sum = kGap * (columns.size() - 1);
    for (const Drawn& column : columns) {
      sum += column.is_number ? column.width : std::min(column.width, cap);
    }
    return sum;
  };
  size_t cap = kMinTextWidth;
  for (const Drawn& column : columns) cap = std::max(cap, column.width);
  while (cap > kMinTextWidth && total(cap) > width) --cap;
  for (Drawn& column : columns) {
    if (column.is_number || column.width <= cap) continue;
    column.width = cap;
    column.header = ShortenMiddle(column.header, cap);
    for (std::string& cell : column.cells) cell = ShortenMiddle(cell, cap);
  }
}

void AppendLine(std::string& out, const std::vector<Drawn>& columns,
                const std::string& (*text_of)(const Drawn&, size_t), size_t row) {
  const size_t line_begin = out.size();
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::string& text = text_of(columns[i], row);
    const size_t blanks = columns[i].width - DisplayWidth(text);
    if (i > 0) out.append(kGap, ' ');
    if (columns[i].is_number) out.append(blanks, ' ');
    out += text;
    if (!columns[i].is_number) out.append(blanks, ' ');
  }
  while (out.size() > line_begin && out.back() == ' ') out.pop_back();
  out += '\n';
}

void AppendUnderline(std::string& out, const std::vector<Drawn>& columns) {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) out.append(kGap, ' ');
    out.append(columns[i].width, '-');
  }
  out += '\n';
}

}  // namespace

std::string ToConsole(const Table& table, const ConsoleOptions& options) {
  std::vector<Drawn> columns;
  for (const Column& column : table.columns()) {
    columns.push_back(DrawColumn(column, table.rows()));
    const bool has_bars = options.bars && column.is_share && column.type != CellType::kText;
    if (has_bars) columns.push_back(DrawBars(column, table.rows()));
  }
  if (options.width > 0 && !columns.empty()) FitTexts(columns, options.width);

  std::string out;
  if (options.title) out += ToPrintable(table.name()) + "\n";
  const auto header = [](const Drawn& c, size_t) -> const std::string& { return c.header; };
  const auto cell = [](const Drawn& c, size_t row) -> const std::string& { return c.cells[row]; };
  AppendLine(out, columns, header, 0);
  AppendUnderline(out, columns);
  for (size_t row = 0; row < table.rows(); ++row) AppendLine(out, columns, cell, row);
  return out;
}

std::string ToConsole(std::span<const Table> tables, const ConsoleOptions& options) {
  std::string out;
  for (const Table& table : tables) {
    if (!out.empty()) out += '\n';
    out += ToConsole(table, options);
  }
  return out;
}

}  // namespace steplens::table
