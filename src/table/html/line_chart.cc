#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "table/html/condense.h"
#include "table/html/drawing.h"
#include "table/html/svg.h"

namespace steplens::table::html {
namespace {

constexpr size_t kMaxPoints = 2000;  // of a series
constexpr size_t kMaxMarks = 200;    // more points than this have no circles and tooltips
constexpr double kHeight = 320;

struct Range {
  double low = 0;
  double high = 0;
  bool is_empty = true;

  void Include(double value) {
    if (std::isnan(value)) return;
    low = is_empty ? value : std::min(low, value);
    high = is_empty ? value : std::max(high, value);
    is_empty = false;
  }
};

Range RangeOf(const std::vector<double>& values) {
  Range range;
  for (size_t i = 0; i < values.size(); ++i) range.Include(DrawableAt(values, i));
  return range;
}

LineChart Condense(const LineChart& chart, size_t group_size) {
  LineChart out = chart;
  out.x = CondenseValues(chart.x, group_size);
  for (Series& series : out.series) series.values = CondenseValues(series.values, group_size);
  return out;
}

std::vector<Tick> ValueTicks(const LineChart& chart) {
  Range range;
  for (const Series& series : chart.series) {
    const Range own = RangeOf(series.values);
    if (own.is_empty) continue;
    range.Include(own.low);
    range.Include(own.high);
  }
  // From zero where that does not flatten the lines.
  if (range.low > 0 && range.low < range.high / 2) range.low = 0;
  return RoundTicks(range.low, range.high, 6, 0);
}

std::vector<Tick> InnerTicks(const Range& range, double min_step) {
  std::vector<Tick> ticks = RoundTicks(range.low, range.high, 10, min_step);
  const double slack = (range.high - range.low) * 1e-9;
  std::erase_if(ticks, [&](const Tick& tick) {
    return tick.value < range.low - slack || tick.value > range.high + slack;
  });
  return ticks;
}

// One line per run of points without a gap.
void DrawLines(Svg& svg, const Scale& x, const Scale& values, const LineChart& chart,
               size_t index) {
  std::string points;
  for (size_t i = 0; i <= chart.x.size(); ++i) {
    const double at = DrawableAt(chart.x, i);
    const double value = DrawableAt(chart.series[index].values, i);
    if (!std::isnan(at) && !std::isnan(value)) {
      points += Point(x.At(at), values.At(value)) + " ";
      continue;
    }
    if (!points.empty()) svg.Polyline(points, "line " + SeriesClass(index));
    points.clear();
  }
}

void DrawMarks(Svg& svg, const Scale& x, const Scale& values, const LineChart& chart,
               size_t index) {
  const Series& series = chart.series[index];
  for (size_t i = 0; i < chart.x.size(); ++i) {
    const double at = DrawableAt(chart.x, i);
    const double value = DrawableAt(series.values, i);
    if (std::isnan(at) || std::isnan(value)) continue;
    svg.BeginGroup(OneLine(series.name) + "\n" + OneLine(chart.x_label) + ": " + FormatValue(at) +
                   "\n" + OneLine(chart.value_label) + ": " + FormatValue(value));
    svg.Circle(x.At(at), values.At(value), 3, SeriesClass(index));
    svg.EndGroup();
  }
}

}  // namespace

Drawing Draw(const LineChart& chart) {
  if (chart.x.empty() || chart.series.empty()) return {};
  const size_t group_size = GroupSize(chart.x.size(), kMaxPoints);
  const LineChart condensed = Condense(chart, group_size);
  const Range x_range = RangeOf(condensed.x);
  const std::vector<Tick> ticks = ValueTicks(condensed);
  const PlotArea area{LabelMargin(ticks), kTopMargin, kChartWidth - 20, kHeight - kBottomMargin};
  const Scale values{ticks.front().value, ticks.back().value, area.bottom, area.top};
  const double width = x_range.high > x_range.low ? x_range.high - x_range.low : 1;
  const Scale x{x_range.low, x_range.low + width, area.left + 6, area.right - 6};

  Svg svg(kChartWidth, kHeight);
  svg.Label(0, 14, Anchor::kStart, chart.value_label);
  DrawValueAxis(svg, area, values, ticks, false);
  DrawValueAxis(svg, area, x, InnerTicks(x_range, AreWhole(chart.x) ? 1 : 0), true);
  svg.Line(area.left, area.bottom, area.right, area.bottom, "base");
  for (size_t i = 0; i < condensed.series.size(); ++i) {
    DrawLines(svg, x, values, condensed, i);
    if (condensed.x.size() <= kMaxMarks) DrawMarks(svg, x, values, condensed, i);
  }
  svg.Label((area.left + area.right) / 2, kHeight - 6, Anchor::kMiddle, chart.x_label);

  Drawing drawing{{}, svg.Take(), CondensedNote(group_size)};
  for (size_t i = 0; i < chart.series.size(); ++i) {
    drawing.legend.push_back({SeriesClass(i), chart.series[i].name});
  }
  return drawing;
}

}  // namespace steplens::table::html
