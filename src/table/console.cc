#include "table/console.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "table/display_width.h"
#include "table/double_text.h"

namespace steplens::table {
namespace {

constexpr size_t kGap = 2;            // blanks between columns
constexpr size_t kMinTextWidth = 12;  // texts are not shortened below this
constexpr size_t kBarWidth = 10;
constexpr size_t kFewRows = 8;  // up to this many rows may be turned into columns

// A column as drawn: printable texts and the columns they take.
struct Drawn {
  std::vector<std::string> header;  // its lines
  std::vector<std::string> cells;
  bool is_number = false;
  size_t width = 0;
};

std::string ConsoleText(const Column& column, size_t row) {
  if (column.type != CellType::kDouble) return ToPrintable(CellText(column, row));
  return DoubleText(column.doubles[row], column.decimals);
}

Drawn DrawColumn(const Column& column, size_t rows) {
  Drawn drawn;
  drawn.header = {ToPrintable(column.name)};
  drawn.is_number = column.type != CellType::kText;
  drawn.width = DisplayWidth(drawn.header.front());
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

size_t TotalWidth(const std::vector<Drawn>& columns) {
  size_t sum = kGap * (columns.size() - 1);
  for (const Drawn& column : columns) sum += column.width;
  return sum;
}

// "Max Time(us)" -> "Max", "Time", "(us)".
std::vector<std::string> HeaderPieces(std::string_view header) {
  std::vector<std::string> pieces(1);
  for (const char c : header) {
    const bool is_blank = c == ' ';
    if ((is_blank || c == '(') && !pieces.back().empty()) pieces.emplace_back();
    if (!is_blank) pieces.back() += c;
  }
  return pieces;
}

void WidenToCells(Drawn& column) {
  for (const std::string& cell : column.cells) {
    column.width = std::max(column.width, DisplayWidth(cell));
  }
}

// Writes headers that are wider than their column needs on several lines, as few as will do.
void FoldHeaders(std::vector<Drawn>& columns) {
  for (Drawn& column : columns) {
    if (column.header.empty()) continue;
    const std::vector<std::string> pieces = HeaderPieces(column.header.front());
    column.width = 0;
    for (const std::string& piece : pieces) {
      column.width = std::max(column.width, DisplayWidth(piece));
    }
    WidenToCells(column);
    column.header.clear();
    for (const std::string& piece : pieces) {
      // Pieces that belong together stay so where there is room.
      const bool has_line = !column.header.empty();
      const std::string_view gap = piece.starts_with('(') ? "" : " ";
      if (has_line &&
          DisplayWidth(column.header.back()) + gap.size() + DisplayWidth(piece) <= column.width) {
        column.header.back().append(gap).append(piece);
      } else {
        column.header.push_back(piece);
      }
    }
  }
}

// A line per column and a column per row, from `first` on as many rows as fit; the headers stand in
// front of each line. Empty if not even one row fits.
std::vector<Drawn> TurnSideways(const std::vector<Drawn>& columns, size_t first, size_t rows,
                                size_t width) {
  std::vector<Drawn> turned(1);
  for (const Drawn& column : columns) {
    if (!column.header.empty()) turned.front().cells.push_back(column.header.front());
  }
  WidenToCells(turned.front());
  for (size_t row = first; row < rows; ++row) {
    Drawn& values = turned.emplace_back();
    values.is_number = true;
    for (const Drawn& column : columns) {
      if (!column.header.empty()) values.cells.push_back(column.cells[row]);
    }
    WidenToCells(values);
    if (TotalWidth(turned) <= width) continue;
    turned.pop_back();
    break;
  }
  if (turned.size() == 1) turned.clear();
  return turned;
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
    for (std::string& line : column.header) line = ShortenMiddle(line, cap);
    for (std::string& cell : column.cells) cell = ShortenMiddle(cell, cap);
  }
}

template <typename TextOf>
void AppendLine(std::string& out, const std::vector<Drawn>& columns, TextOf&& text_of) {
  const size_t line_begin = out.size();
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::string_view text = text_of(columns[i]);
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

// Headers, of which the last line stands above the underline, and rows. No headers, no underline.
std::string Draw(const std::vector<Drawn>& columns, size_t rows) {
  std::string out;
  size_t lines = columns.empty() ? 1 : 0;
  for (const Drawn& column : columns) lines = std::max(lines, column.header.size());
  for (size_t line = 0; line < lines; ++line) {
    AppendLine(out, columns, [&](const Drawn& column) -> std::string_view {
      const size_t above = lines - column.header.size();
      return line < above ? std::string_view() : column.header[line - above];
    });
  }
  if (lines > 0) AppendUnderline(out, columns);
  for (size_t row = 0; row < rows; ++row) {
    AppendLine(out, columns,
               [&](const Drawn& column) -> std::string_view { return column.cells[row]; });
  }
  return out;
}

// Blocks of rows turned into columns, with an empty line between; empty if a row does not fit.
std::string DrawSideways(const std::vector<Drawn>& columns, size_t rows, size_t width) {
  std::string out;
  for (size_t row = 0; row < rows;) {
    const std::vector<Drawn> block = TurnSideways(columns, row, rows, width);
    if (block.empty()) return "";
    if (!out.empty()) out += '\n';
    out += Draw(block, block.front().cells.size());
    row += block.size() - 1;
  }
  return out;
}

}  // namespace

std::string ToConsole(const Table& table, const ConsoleOptions& options) {
  std::vector<Drawn> columns;
  for (const Column& column : table.columns()) {
    columns.push_back(DrawColumn(column, table.rows()));
    const bool has_bars = options.bars && column.is_share && column.type != CellType::kText;
    if (has_bars) columns.push_back(DrawBars(column, table.rows()));
  }
  std::string out;
  if (options.title) out += ToPrintable(table.name()) + "\n";
  const bool is_limited = options.width > 0 && !columns.empty();
  if (!is_limited || TotalWidth(columns) <= options.width) return out + Draw(columns, table.rows());
  std::vector<Drawn> folded = columns;
  FoldHeaders(folded);
  FitTexts(folded, options.width);
  if (TotalWidth(folded) > options.width && table.rows() <= kFewRows) {
    const std::string sideways = DrawSideways(columns, table.rows(), options.width);
    if (!sideways.empty()) return out + sideways;
  }
  return out + Draw(folded, table.rows());
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
