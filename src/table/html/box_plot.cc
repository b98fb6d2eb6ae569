#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "table/html/condense.h"
#include "table/html/drawing.h"
#include "table/html/svg.h"

namespace steplens::table::html {
namespace {

constexpr size_t kMaxBoxes = 1000;
constexpr double kBoxPlotHeight = 320;
constexpr double kMaxBoxThickness = 48;
constexpr double kThinBoxSlot = 4;  // below this boxes touch each other and have no frame

// The five numbers of each box as five lists.
struct Numbers {
  std::vector<double> min, q1, median, q3, max;
};

Numbers Condense(const std::vector<Box>& boxes, size_t group_size) {
  Numbers all;
  for (const Box& box : boxes) {
    all.min.push_back(box.min);
    all.q1.push_back(box.q1);
    all.median.push_back(box.median);
    all.q3.push_back(box.q3);
    all.max.push_back(box.max);
  }
  for (std::vector<double>* list : {&all.min, &all.q1, &all.median, &all.q3, &all.max}) {
    *list = CondenseValues(*list, group_size);
  }
  return all;
}

Box BoxAt(const Numbers& numbers, size_t key) {
  return {DrawableAt(numbers.min, key), DrawableAt(numbers.q1, key),
          DrawableAt(numbers.median, key), DrawableAt(numbers.q3, key),
          DrawableAt(numbers.max, key)};
}

bool IsWhole(const Box& box) {
  return !std::isnan(box.min + box.q1 + box.median + box.q3 + box.max);
}

std::vector<Tick> ValueTicks(const Numbers& numbers, size_t count) {
  double low = 0;
  double high = 0;
  bool is_first = true;
  for (size_t key = 0; key < count; ++key) {
    const Box box = BoxAt(numbers, key);
    if (!IsWhole(box)) continue;
    low = is_first ? box.min : std::min(low, box.min);
    high = is_first ? box.max : std::max(high, box.max);
    is_first = false;
  }
  // From zero where that does not flatten the boxes.
  if (low > 0 && low < high / 2) low = 0;
  return RoundTicks(low, high, 6, 0);
}

std::string Tooltip(const BoxPlot& chart, const std::string& key, const Box& box) {
  return OneLine(chart.key_label) + " " + key + "\nmax / 最大: " + FormatValue(box.max) +
         "\nQ3: " + FormatValue(box.q3) + "\nmedian / 中位数: " + FormatValue(box.median) +
         "\nQ1: " + FormatValue(box.q1) + "\nmin / 最小: " + FormatValue(box.min);
}

void DrawBox(Svg& svg, const Scale& values, const Box& box, double middle, double slot) {
  const bool is_thin = slot < kThinBoxSlot;
  const double thickness =
      is_thin ? std::max(slot, kMinThickness) : std::min(slot * 0.7, kMaxBoxThickness);
  const double left = middle - thickness / 2;
  const double right = middle + thickness / 2;
  const auto at = [&](double value) { return values.At(value); };
  svg.Line(middle, at(box.min), middle, at(box.max), is_thin ? "whisker thin" : "whisker");
  if (!is_thin) {
    svg.Line(left, at(box.min), right, at(box.min), "whisker");
    svg.Line(left, at(box.max), right, at(box.max), "whisker");
  }
  svg.Rect(left, at(box.q3), thickness, at(box.q1) - at(box.q3), is_thin ? "s0" : "s0 box");
  svg.Line(left, at(box.median), right, at(box.median), "median");
}

}  // namespace

Drawing Draw(const BoxPlot& chart) {
  if (chart.keys.empty()) return {};
  const size_t group_size = GroupSize(chart.keys.size(), kMaxBoxes);
  const std::vector<std::string> keys = CondenseKeys(chart.keys, group_size);
  const Numbers numbers = Condense(chart.boxes, group_size);
  const std::vector<Tick> ticks = ValueTicks(numbers, keys.size());
  const PlotArea area{LabelMargin(ticks), kTopMargin, kChartWidth - 8,
                      kBoxPlotHeight - kBottomMargin};
  const Scale values{ticks.front().value, ticks.back().value, area.bottom, area.top};
  const double slot = (area.right - area.left) / static_cast<double>(keys.size());

  Svg svg(kChartWidth, kBoxPlotHeight);
  svg.Label(0, 14, Anchor::kStart, chart.value_label);
  DrawValueAxis(svg, area, values, ticks, false);
  for (size_t key = 0; key < keys.size(); ++key) {
    const Box box = BoxAt(numbers, key);
    if (!IsWhole(box)) continue;
    svg.BeginGroup(Tooltip(chart, keys[key], box));
    DrawBox(svg, values, box, area.left + (static_cast<double>(key) + 0.5) * slot, slot);
    svg.EndGroup();
  }
  svg.Line(area.left, area.bottom, area.right, area.bottom, "base");
  DrawKeysBelow(svg, area, keys);
  svg.Label((area.left + area.right) / 2, kBoxPlotHeight - 6, Anchor::kMiddle, chart.key_label);
  return {{}, svg.Take(), CondensedNote(group_size)};
}

}  // namespace steplens::table::html
