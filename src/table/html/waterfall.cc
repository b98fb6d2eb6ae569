#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "table/display_width.h"
#include "table/html/drawing.h"
#include "table/html/svg.h"

namespace steplens::table::html {
namespace {

constexpr double kBarRow = 24;
constexpr double kBarHeight = 15;
constexpr double kNameWidth = 300;
constexpr double kValueRoom = 90;  // beside a bar, for its value
constexpr size_t kNameColumns = 42;

struct WaterfallRow {
  Text name;
  double from = 0;
  double to = 0;
  bool is_total = false;
  std::string_view css_class;
};

std::vector<WaterfallRow> RowsOf(const Waterfall& chart) {
  std::vector<WaterfallRow> rows;
  rows.push_back({chart.first, 0, chart.first_value, true, "s0"});
  double at = chart.first_value;
  for (const Waterfall::Change& change : chart.changes) {
    rows.push_back({change.name, at, at + change.value, false, change.value > 0 ? "more" : "less"});
    at += change.value;
  }
  rows.push_back({chart.last, 0, chart.last_value, true, "s1"});
  return rows;
}

// The axis: from 0, unless the changes would be too small to be seen; then around them.
std::vector<Tick> WaterfallTicks(const std::vector<WaterfallRow>& rows) {
  constexpr double kVisible = 0.1;
  double low = rows.front().to;
  double high = low;
  for (const WaterfallRow& row : rows) {
    low = std::min(low, row.to);
    high = std::max(high, row.to);
  }
  const bool is_close = high > 0 && low > 0 && high - low < kVisible * high && high > low;
  const double room = (high - low) / 4;
  if (is_close) return RoundTicks(std::max(0.0, low - room), high, 6, 0);
  return RoundTicks(std::min(0.0, low), std::max(high, 0.0), 6, 0);
}

Text Shortened(const Text& name) {
  return {ShortenMiddle(name.en, kNameColumns), ShortenMiddle(name.zh, kNameColumns)};
}

std::string ValueText(const WaterfallRow& row) {
  if (row.is_total) return FormatValue(row.to);
  const double change = row.to - row.from;
  return (change > 0 ? "+" : "") + FormatValue(change);
}

}  // namespace

Drawing Draw(const Waterfall& chart) {
  const std::vector<WaterfallRow> rows = RowsOf(chart);
  for (const WaterfallRow& row : rows) {
    if (!std::isfinite(row.to)) return {};
  }
  const std::vector<Tick> ticks = WaterfallTicks(rows);
  const double height = kTopMargin + kBarRow * static_cast<double>(rows.size()) + 26;
  const PlotArea area{kNameWidth, kTopMargin, kChartWidth - kValueRoom, height - 26};
  const Scale scale{ticks.front().value, ticks.back().value, area.left, area.right};
  const auto at = [&](double value) { return scale.At(std::max(value, ticks.front().value)); };
  Svg svg(kChartWidth, height);
  svg.Label(kNameWidth, 14, Anchor::kStart, chart.value_label);
  DrawValueAxis(svg, area, scale, ticks, true);
  for (size_t i = 0; i < rows.size(); ++i) {
    const WaterfallRow& row = rows[i];
    const double top = area.top + kBarRow * static_cast<double>(i) + (kBarRow - kBarHeight) / 2;
    svg.BeginGroup(OneLine(row.name) + "\n" + OneLine(chart.value_label) + ": " + ValueText(row));
    svg.Label(kNameWidth - 8, top + 12, Anchor::kEnd, Shortened(row.name));
    const double left = std::min(at(row.from), at(row.to));
    const double width = std::max(std::abs(at(row.to) - at(row.from)), kMinThickness);
    svg.Rect(left, top, width, kBarHeight, row.css_class);
    svg.Label(left + width + 5, top + 12, Anchor::kStart, ValueText(row), "axis");
    svg.EndGroup();
    if (i + 1 < rows.size())
      svg.Line(at(row.to), top + kBarHeight, at(row.to), top + kBarRow, "grid");
  }
  Drawing drawing{{}, svg.Take(), {}};
  drawing.legend = {{"more", {"takes longer in B", "B 更慢"}},
                    {"less", {"takes less in B", "B 更快"}}};
  if (ticks.front().value > 0)
    drawing.note = {"The axis does not begin at 0.", "坐标轴不从 0 开始。"};
  return drawing;
}

}  // namespace steplens::table::html
