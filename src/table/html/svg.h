#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "table/html/text.h"

// The few things charts are drawn with. Lengths are units of the viewBox, of which a page on a
// desktop shows about one per pixel; y grows downwards.

namespace steplens::table::html {

inline constexpr double kChartWidth = 960;
inline constexpr double kTopMargin = 28;      // holds the label of the value axis
inline constexpr double kBottomMargin = 42;   // holds the labels and the name of the key axis
inline constexpr double kMinThickness = 1.2;  // of a bar: none falls between two pixels
inline constexpr double kMaxDrawn = 1e300;    // sums and differences of such values stay finite

enum class Anchor : uint8_t { kStart, kMiddle, kEnd };

// Appends elements; colours come from the classes, which the style of the page defines.
class Svg {
 public:
  Svg(double width, double height);

  // `tooltip`, not escaped, is shown over all that is drawn until EndGroup.
  void BeginGroup(std::string_view tooltip, std::string_view css_class = "");
  void EndGroup();
  // Negative lengths are drawn to the other side.
  void Rect(double x, double y, double width, double height, std::string_view css_class);
  // With a colour of its own, e.g. "#21918c".
  void FilledRect(double x, double y, double width, double height, std::string_view fill);
  void Line(double x1, double y1, double x2, double y2, std::string_view css_class);
  void Circle(double x, double y, double radius, std::string_view css_class);
  // `points`: "x,y x,y ...", made with Point.
  void Polyline(std::string_view points, std::string_view css_class);
  void Label(double x, double y, Anchor anchor, std::string_view text,
             std::string_view css_class = "");
  void Label(double x, double y, Anchor anchor, const Text& text);

  std::string Take();

 private:
  std::string out_;
};

// "12.5,3" for Polyline.
std::string Point(double x, double y);

// Drawn width of a label, estimated.
double LabelWidth(std::string_view text);

// The value of a key if it can be drawn, else NaN; those beyond kMaxDrawn are held there.
double DrawableAt(const std::vector<double>& values, size_t key);

// Whether there are no fractions among the values.
bool AreWhole(const std::vector<double>& values);

// Class of the colour of a series: "s0" ... "s7", then from the front again.
std::string SeriesClass(size_t series);

// Maps [low, high] to [from, to].
struct Scale {
  double low = 0;
  double high = 1;
  double from = 0;
  double to = 1;
  double At(double value) const { return from + (value - low) / (high - low) * (to - from); }
};

struct Tick {
  double value = 0;
  std::string label;
};

// Round values (1, 2 or 5 times a power of ten apart) from at or below `low` to at or above `high`,
// about `count` of them and at least two. Steps are not smaller than `min_step`: 1 for counts.
std::vector<Tick> RoundTicks(double low, double high, int count, double min_step);

// Every how many of `count` keys a label fits, if each needs `needed` of `available`: 1, 2, 5, 10,
// 20, ...
size_t LabelStep(size_t count, double needed, double available);

// The part of the picture inside the axes.
struct PlotArea {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
};

// Grid lines with labels at the left, or at the bottom for `is_horizontal`.
void DrawValueAxis(Svg& svg, const PlotArea& area, const Scale& scale,
                   const std::vector<Tick>& ticks, bool is_horizontal);

// Room that the labels of ticks need at the left of a plot.
double LabelMargin(const std::vector<Tick>& ticks);

// Keys as slots of equal width from left to right, labelled below, as many as fit.
void DrawKeysBelow(Svg& svg, const PlotArea& area, const std::vector<std::string>& keys);

}  // namespace steplens::table::html
