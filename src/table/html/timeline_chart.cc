#include <algorithm>
#include <string>
#include <vector>

#include "table/display_width.h"
#include "table/html/drawing.h"
#include "table/html/svg.h"

namespace steplens::table::html {
namespace {

constexpr double kLaneRow = 30;
constexpr double kLaneHeight = 22;
constexpr double kLaneNameWidth = 196;
constexpr size_t kLaneNameColumns = 26;
constexpr double kLeastLabelled = 26;  // a narrower slice has no room for letters
constexpr double kLetterWidth = 6.2;

void DrawSlice(Svg& svg, const TimelineChart::Slice& slice, const Scale& x, double top,
               const std::string& css_class, const Text& x_label) {
  const double left = x.At(slice.begin);
  const double width = std::max(x.At(slice.end) - left, kMinThickness);
  svg.BeginGroup(slice.name + "\n" + FormatValue(slice.end - slice.begin) + "  (" +
                     FormatValue(slice.begin) + " – " + FormatValue(slice.end) + ", " +
                     OneLine(x_label) + ")",
                 slice.is_highlighted ? css_class + " marked" : css_class);
  svg.Rect(left, top, width, kLaneHeight, css_class);
  if (width >= kLeastLabelled) {
    const auto columns = static_cast<size_t>((width - 6) / kLetterWidth);
    svg.Label(left + 4, top + 15, Anchor::kStart, ShortenMiddle(slice.name, columns), "on-light");
  }
  svg.EndGroup();
}

}  // namespace

Drawing Draw(const TimelineChart& chart) {
  if (chart.lanes.empty() || !(chart.length > 0)) return {};
  const double height = 12 + kLaneRow * static_cast<double>(chart.lanes.size()) + kBottomMargin;
  const PlotArea area{kLaneNameWidth, 8, kChartWidth - 16, height - kBottomMargin};
  const Scale x{0, chart.length, area.left, area.right};
  std::vector<Tick> ticks = RoundTicks(0, chart.length, 8, 0);
  std::erase_if(ticks, [&](const Tick& tick) { return tick.value > chart.length; });
  Svg svg(kChartWidth, height);
  DrawValueAxis(svg, area, x, ticks, true);
  for (size_t i = 0; i < chart.lanes.size(); ++i) {
    const TimelineChart::Lane& lane = chart.lanes[i];
    const double top = area.top + kLaneRow * static_cast<double>(i) + (kLaneRow - kLaneHeight) / 2;
    const Text name{ShortenMiddle(lane.name.en, kLaneNameColumns),
                    ShortenMiddle(lane.name.zh, kLaneNameColumns)};
    svg.Label(kLaneNameWidth - 8, top + 15, Anchor::kEnd, name);
    const std::string css_class = SeriesClass(lane.series);
    for (const TimelineChart::Slice& slice : lane.slices)
      DrawSlice(svg, slice, x, top, css_class, chart.x_label);
  }
  svg.Label((area.left + area.right) / 2, height - 6, Anchor::kMiddle, chart.x_label);
  Drawing drawing{{}, svg.Take(), {}};
  for (size_t i = 0; i < chart.series.size(); ++i)
    drawing.legend.push_back({SeriesClass(i), chart.series[i]});
  if (!chart.highlighted.en.empty()) drawing.legend.push_back({"more", chart.highlighted});
  return drawing;
}

}  // namespace steplens::table::html
