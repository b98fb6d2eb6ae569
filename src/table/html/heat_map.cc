#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "table/display_width.h"
#include "table/html/condense.h"
#include "table/html/drawing.h"
#include "table/html/svg.h"

namespace steplens::table::html {
namespace {

constexpr size_t kMaxCells = 64;  // in each direction
constexpr double kMaxSide = 34;   // of a cell
constexpr double kMaxWidth = 780;
constexpr size_t kMaxMapNameColumns = 14;
constexpr double kSideForNumbers = 30;  // cells from here on show their value
constexpr double kMinHeight = 180;      // room for the colour scale

struct Colour {
  double red, green, blue;
};

// Dark to light through hues that every kind of colour vision can order, on light and dark paper.
constexpr std::array kColours = {Colour{68, 1, 84}, Colour{59, 82, 139}, Colour{33, 145, 140},
                                 Colour{94, 201, 98}, Colour{253, 231, 37}};

// `share` from 0 to 1.
std::string ColourAt(double share) {
  const double position = std::clamp(share, 0.0, 1.0) * (kColours.size() - 1);
  const size_t index = std::min(static_cast<size_t>(position), kColours.size() - 2);
  const double part = position - static_cast<double>(index);
  const Colour& a = kColours[index];
  const Colour& b = kColours[index + 1];
  const auto mix = [part](double from, double to) {
    return static_cast<int>(std::lround(from + (to - from) * part));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(a.red, b.red), mix(a.green, b.green),
                     mix(a.blue, b.blue));
}

// Rows of cells, as drawn.
struct Cells {
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  std::vector<double> values;
  double low = 0;
  double high = 0;

  double At(size_t row, size_t column) const {
    return DrawableAt(values, row * columns.size() + column);
  }
  double ShareOf(double value) const { return high > low ? (value - low) / (high - low) : 0.5; }
};

// How many neighbours are one.
struct Block {
  size_t rows = 1;
  size_t columns = 1;
};

// The means of blocks of cells, without gaps; NaN where there are gaps only.
class BlockMeans {
 public:
  BlockMeans(const Cells& cells, Block block)
      : columns_(cells.columns.size()),
        block_(block),
        means_(cells.rows.size() * cells.columns.size(), std::numeric_limits<double>::quiet_NaN()),
        counts_(means_.size()) {}

  void Add(size_t row, size_t column, double value) {
    const size_t place = row / block_.rows * columns_ + column / block_.columns;
    if (!std::isfinite(value) || place >= means_.size()) return;
    double& mean = means_[place];
    const size_t count = ++counts_[place];
    mean = count == 1 ? value : mean + (value - mean) / static_cast<double>(count);
  }
  std::vector<double> Take() { return std::move(means_); }

 private:
  size_t columns_;
  Block block_;
  std::vector<double> means_;
  std::vector<size_t> counts_;
};

Cells Condense(const HeatMap& chart, Block block) {
  Cells cells;
  cells.rows = CondenseKeys(chart.rows, block.rows);
  cells.columns = CondenseKeys(chart.columns, block.columns);
  BlockMeans means(cells, block);
  for (size_t i = 0; i < chart.values.size(); ++i)
    means.Add(i / chart.columns.size(), i % chart.columns.size(), DrawableAt(chart.values, i));
  for (const HeatMap::Cell& cell : chart.cells) means.Add(cell.row, cell.column, cell.value);
  cells.values = means.Take();
  bool is_first = true;
  for (const double value : cells.values) {
    if (std::isnan(value)) continue;
    cells.low = is_first ? value : std::min(cells.low, value);
    cells.high = is_first ? value : std::max(cells.high, value);
    is_first = false;
  }
  cells.high = std::max(cells.high, cells.low + chart.least_span);
  return cells;
}

// Three digits at most, to fit into a cell; empty if they do not.
std::string ShortValue(double value) {
  const double size = std::abs(value);
  if (size >= 999.5) return "";
  return fmt::format("{:.{}f}", value, size >= 9.95 ? 0 : 1);
}

void DrawCell(Svg& svg, double x, double y, double side, double value, double share) {
  if (std::isnan(value)) {
    svg.Rect(x, y, side, side, "absent");
    return;
  }
  svg.FilledRect(x, y, side, side, ColourAt(share));
  const std::string number = side >= kSideForNumbers ? ShortValue(value) : "";
  if (number.empty()) return;
  svg.Label(x + side / 2, y + side / 2 + 4, Anchor::kMiddle, number,
            share > 0.6 ? "on-light" : "on-dark");
}

void DrawCells(Svg& svg, const HeatMap& chart, const Cells& cells, double left, double side) {
  for (size_t row = 0; row < cells.rows.size(); ++row) {
    for (size_t column = 0; column < cells.columns.size(); ++column) {
      const double value = cells.At(row, column);
      const double x = left + static_cast<double>(column) * side;
      const double y = kTopMargin + static_cast<double>(row) * side;
      svg.BeginGroup(OneLine(chart.row_label) + " " + cells.rows[row] + ", " +
                     OneLine(chart.column_label) + " " + cells.columns[column] + ": " +
                     FormatValue(value));
      DrawCell(svg, x, y, side, value, cells.ShareOf(value));
      svg.EndGroup();
    }
  }
}

void DrawRowNames(Svg& svg, const std::vector<std::string>& names, double left, double side) {
  const double height = side * static_cast<double>(names.size());
  const size_t step = LabelStep(names.size(), 14, height);
  for (size_t row = 0; row < names.size(); row += step) {
    svg.Label(left - 6, kTopMargin + (static_cast<double>(row) + 0.5) * side + 4, Anchor::kEnd,
              names[row]);
  }
}

void DrawColourScale(Svg& svg, const Cells& cells, double x, double height) {
  constexpr int kSteps = 50;
  const double step_height = height / kSteps;
  for (int i = 0; i < kSteps; ++i) {
    const double y = kTopMargin + height - (i + 1) * step_height;
    svg.FilledRect(x, y, 14, step_height, ColourAt((i + 0.5) / kSteps));
  }
  for (const double share : {0.0, 0.5, 1.0}) {
    if (cells.low == cells.high && share != 0.5) continue;
    const double value = cells.low + (cells.high - cells.low) * share;
    svg.Label(x + 20, kTopMargin + height * (1 - share) + 4, Anchor::kStart, FormatValue(value));
  }
}

Text BlocksNote(Block block) {
  if (block.rows == 1 && block.columns == 1) return {};
  return {fmt::format("Each cell is the mean of up to {} × {} cells.", block.rows, block.columns),
          fmt::format("每个单元格为最多 {} × {} 个单元格的平均值。", block.rows, block.columns)};
}

}  // namespace

Drawing Draw(const HeatMap& chart) {
  if (chart.rows.empty() || chart.columns.empty()) return {};
  const Block block{GroupSize(chart.rows.size(), kMaxCells),
                    GroupSize(chart.columns.size(), kMaxCells)};
  const Cells cells = Condense(chart, block);
  std::vector<std::string> names;
  double widest = std::max(LabelWidth(chart.row_label.en), LabelWidth(chart.row_label.zh));
  for (const std::string& row : cells.rows) {
    names.push_back(ShortenMiddle(ToPrintable(row), kMaxMapNameColumns));
    widest = std::max(widest, LabelWidth(names.back()));
  }
  const double left = widest * 1.1 + 12;  // wide fonts
  const double side =
      std::min(kMaxSide, (kMaxWidth - left) / static_cast<double>(cells.columns.size()));
  const double right = left + side * static_cast<double>(cells.columns.size());
  const double bottom = kTopMargin + side * static_cast<double>(cells.rows.size());
  const double height = std::max(bottom + kBottomMargin, kMinHeight);

  Svg svg(kChartWidth, height);
  svg.Label(left - 6, 16, Anchor::kEnd, chart.row_label);
  DrawCells(svg, chart, cells, left, side);
  DrawRowNames(svg, names, left, side);
  DrawKeysBelow(svg, {left, kTopMargin, right, bottom}, cells.columns);
  svg.Label((left + right) / 2, bottom + 36, Anchor::kMiddle, chart.column_label);
  svg.Label(right + 30, 16, Anchor::kStart, chart.value_label);
  DrawColourScale(svg, cells, right + 30, std::min(std::max(bottom - kTopMargin, 110.0), 320.0));
  return {{}, svg.Take(), BlocksNote(block)};
}

}  // namespace steplens::table::html
