#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "table/display_width.h"
#include "table/html/condense.h"
#include "table/html/drawing.h"
#include "table/html/svg.h"

namespace steplens::table::html {
namespace {

constexpr size_t kMaxKeys = 2000;
constexpr double kVerticalHeight = 320;
constexpr double kRowHeight = 22;       // of a horizontal bar with its name
constexpr double kTightRowHeight = 15;  // still with its name
constexpr size_t kMaxNameColumns = 40;  // of a key beside its bar
constexpr double kMaxThickness = 72;
constexpr double kThinSlot = 3;  // below this bars touch, and groups lie upon each other

// A span on the value axis.
struct Span {
  double from = 0;
  double to = 0;
};

// One span per series: stacked parts follow each other from zero, upwards those above zero and
// downwards those below; others begin at zero. Gaps are empty spans.
std::vector<Span> SpansOfKey(const BarChart& chart, size_t key) {
  std::vector<Span> spans;
  double above = 0;
  double below = 0;
  for (const Series& series : chart.series) {
    const double drawable = DrawableAt(series.values, key);
    const double value = std::isnan(drawable) ? 0 : drawable;
    double& start = value < 0 ? below : above;
    const double from = chart.layout == BarLayout::kStacked ? start : 0;
    spans.push_back({from, from + value});
    start = from + value;
  }
  return spans;
}

std::vector<Tick> ValueTicks(const BarChart& chart) {
  double low = 0;
  double high = 0;
  for (size_t key = 0; key < chart.keys.size(); ++key) {
    for (const Span& span : SpansOfKey(chart, key)) {
      low = std::min(low, span.to);
      high = std::max(high, span.to);
    }
  }
  const bool are_whole = std::all_of(chart.series.begin(), chart.series.end(),
                                     [](const Series& s) { return AreWhole(s.values); });
  return RoundTicks(low, high, 6, are_whole ? 1 : 0);
}

std::string Tooltip(const BarChart& chart, size_t key) {
  std::string text = OneLine(chart.key_label) + " " + chart.keys[key];
  for (const Series& series : chart.series) {
    text += "\n" + OneLine(series.name) + ": " + FormatValue(DrawableAt(series.values, key));
  }
  return text;
}

// Where bars go: along the key axis in slots, along the value axis by the scale.
struct Frame {
  bool is_horizontal = false;
  PlotArea area;
  Scale values;
  double slot = 0;

  // `at` and `thickness` on the key axis, from its beginning.
  void DrawBar(Svg& svg, double at, double thickness, const Span& span,
               const std::string& css_class) const {
    const double from = values.At(span.from);
    const double length = values.At(span.to) - from;
    if (is_horizontal) {
      svg.Rect(from, area.top + at, length, thickness, css_class);
    } else {
      svg.Rect(area.left + at, from, thickness, length, css_class);
    }
  }
};

// The order in which the bars of a key are drawn: where they lie upon each other, the longest
// first.
std::vector<size_t> DrawingOrder(const std::vector<Span>& spans, bool are_overlaid) {
  std::vector<size_t> order(spans.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (!are_overlaid) return order;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::abs(spans[a].to - spans[a].from) > std::abs(spans[b].to - spans[b].from);
  });
  return order;
}

void DrawBars(Svg& svg, const Frame& frame, const BarChart& chart) {
  const bool is_thin = frame.slot < kThinSlot;
  const double thickness =
      is_thin ? std::max(frame.slot, kMinThickness) : std::min(frame.slot * 0.8, kMaxThickness);
  const bool is_grouped = chart.layout == BarLayout::kGrouped;
  const bool is_side_by_side = is_grouped && !is_thin;
  const double part =
      is_side_by_side ? thickness / static_cast<double>(chart.series.size()) : thickness;
  const bool has_highlights = !chart.highlighted.empty() && chart.series.size() == 1;
  const std::set<size_t> highlighted(chart.highlighted.begin(), chart.highlighted.end());
  for (size_t key = 0; key < chart.keys.size(); ++key) {
    const std::string_view css_class = highlighted.contains(key) ? "hot" : "dim";
    svg.BeginGroup(Tooltip(chart, key), has_highlights ? css_class : "");
    const double begin = (static_cast<double>(key) + 0.5) * frame.slot - thickness / 2;
    const std::vector<Span> spans = SpansOfKey(chart, key);
    for (const size_t i : DrawingOrder(spans, is_grouped && is_thin)) {
      if (spans[i].from == spans[i].to) continue;
      const double at = begin + (is_side_by_side ? static_cast<double>(i) * part : 0);
      frame.DrawBar(svg, at, part, spans[i], SeriesClass(i));
    }
    svg.EndGroup();
  }
}

std::string DrawVertical(const BarChart& chart) {
  const std::vector<Tick> ticks = ValueTicks(chart);
  Svg svg(kChartWidth, kVerticalHeight);
  Frame frame;
  frame.area = {LabelMargin(ticks), kTopMargin, kChartWidth - 8, kVerticalHeight - kBottomMargin};
  frame.values = {ticks.front().value, ticks.back().value, frame.area.bottom, frame.area.top};
  frame.slot = (frame.area.right - frame.area.left) / static_cast<double>(chart.keys.size());
  svg.Label(0, 14, Anchor::kStart, chart.value_label);
  DrawValueAxis(svg, frame.area, frame.values, ticks, false);
  DrawBars(svg, frame, chart);
  svg.Line(frame.area.left, frame.values.At(0), frame.area.right, frame.values.At(0), "base");
  DrawKeysBelow(svg, frame.area, chart.keys);
  svg.Label((frame.area.left + frame.area.right) / 2, kVerticalHeight - 6, Anchor::kMiddle,
            chart.key_label);
  return svg.Take();
}

void DrawKeysBeside(Svg& svg, const Frame& frame, const std::vector<std::string>& names) {
  const size_t step = LabelStep(names.size(), 15, frame.area.bottom - frame.area.top);
  for (size_t i = 0; i < names.size(); i += step) {
    const double middle = frame.area.top + (static_cast<double>(i) + 0.5) * frame.slot;
    svg.Label(frame.area.left - 6, middle + 4, Anchor::kEnd, names[i]);
  }
}

// Few keys get comfortable rows, some get tight ones, and many have to share the room.
double RowsHeight(double key_count) {
  const double comfortable = std::min(key_count * kRowHeight, 40 * kRowHeight);
  return std::max(comfortable, std::min(key_count, 200.0) * kTightRowHeight);
}

std::string DrawHorizontal(const BarChart& chart) {
  std::vector<std::string> names;
  double widest = 0;
  for (const std::string& key : chart.keys) {
    names.push_back(ShortenMiddle(ToPrintable(key), kMaxNameColumns));
    widest = std::max(widest, LabelWidth(names.back()));
  }
  const std::vector<Tick> ticks = ValueTicks(chart);
  const auto key_count = static_cast<double>(chart.keys.size());
  const double rows_height = RowsHeight(key_count);
  const double height = rows_height + kTopMargin + kBottomMargin;
  Svg svg(kChartWidth, height);
  Frame frame;
  frame.is_horizontal = true;
  const double last_label = LabelWidth(ticks.back().label) / 2 + 4;
  frame.area = {widest + 12, kTopMargin, kChartWidth - last_label, height - kBottomMargin};
  frame.values = {ticks.front().value, ticks.back().value, frame.area.left, frame.area.right};
  frame.slot = rows_height / key_count;
  svg.Label(0, 14, Anchor::kStart, chart.key_label);
  DrawValueAxis(svg, frame.area, frame.values, ticks, true);
  DrawBars(svg, frame, chart);
  svg.Line(frame.values.At(0), frame.area.top, frame.values.At(0), frame.area.bottom, "base");
  DrawKeysBeside(svg, frame, names);
  svg.Label((frame.area.left + frame.area.right) / 2, height - 6, Anchor::kMiddle,
            chart.value_label);
  return svg.Take();
}

BarChart Condense(const BarChart& chart, size_t group_size) {
  BarChart out = chart;
  out.keys = CondenseKeys(chart.keys, group_size);
  for (Series& series : out.series) series.values = CondenseValues(series.values, group_size);
  for (size_t& key : out.highlighted) key /= group_size;
  return out;
}

}  // namespace

Drawing Draw(const BarChart& chart) {
  if (chart.keys.empty() || chart.series.empty()) return {};
  const size_t group_size = GroupSize(chart.keys.size(), kMaxKeys);
  const BarChart condensed = Condense(chart, group_size);
  Drawing drawing;
  drawing.note = CondensedNote(group_size);
  for (size_t i = 0; i < chart.series.size() && chart.series.size() > 1; ++i) {
    drawing.legend.push_back({SeriesClass(i), chart.series[i].name});
  }
  const bool is_vertical = chart.direction == Direction::kVertical;
  drawing.svg = is_vertical ? DrawVertical(condensed) : DrawHorizontal(condensed);
  return drawing;
}

}  // namespace steplens::table::html
