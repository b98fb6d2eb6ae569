#include "table/html/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "table/display_width.h"

namespace steplens::table::html {
namespace {

constexpr double kCharacterWidth = 6.6;  // of the 12 unit sans-serif of the page, rather wide
constexpr size_t kSeriesColours = 8;
constexpr size_t kMaxLabelColumns = 14;  // of a key below its slot, where that is narrow
constexpr double kLabelGap = 12;         // between labels

// At most two decimals: a hundredth of a pixel.
std::string Length(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string_view AnchorName(Anchor anchor) {
  switch (anchor) {
    case Anchor::kStart:
      return "start";
    case Anchor::kMiddle:
      return "middle";
    case Anchor::kEnd:
      return "end";
  }
  return "";
}

std::string RectShape(double x, double y, double width, double height) {
  if (width < 0) x += width;
  if (height < 0) y += height;
  return fmt::format(R"(x="{}" y="{}" width="{}" height="{}")", Length(x), Length(y),
                     Length(std::abs(width)), Length(std::abs(height)));
}

std::string TickLabel(double value, double step) {
  if (std::abs(value) < step / 2) return "0";
  const double largest = std::max(std::abs(value), step);
  if (largest >= 1e12 || step < 1e-4) return fmt::format("{:.4g}", value);
  const int decimals = step >= 1 ? 0 : static_cast<int>(std::ceil(-std::log10(step) - 1e-9));
  return GroupDigits(fmt::format("{:.{}f}", value, decimals));
}

// 1, 2 or 5 times a power of ten, at or above `least`.
double RoundUp(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

}  // namespace

Svg::Svg(double width, double height)
    : out_(fmt::format(R"(<svg viewBox="0 0 {} {}" role="img">)", Length(width), Length(height))) {}

void Svg::BeginGroup(std::string_view tooltip, std::string_view css_class) {
  out_ += fmt::format(R"(<g class="{}"><title>{}</title>)", css_class, Escape(tooltip));
}

void Svg::EndGroup() { out_ += "</g>"; }

void Svg::Rect(double x, double y, double width, double height, std::string_view css_class) {
  out_ += fmt::format(R"(<rect {} class="{}"/>)", RectShape(x, y, width, height), css_class);
}

void Svg::FilledRect(double x, double y, double width, double height, std::string_view fill) {
  out_ += fmt::format(R"(<rect {} color="{}"/>)", RectShape(x, y, width, height), fill);
}

void Svg::Line(double x1, double y1, double x2, double y2, std::string_view css_class) {
  out_ += fmt::format(R"(<line x1="{}" y1="{}" x2="{}" y2="{}" class="{}"/>)", Length(x1),
                      Length(y1), Length(x2), Length(y2), css_class);
}

void Svg::Circle(double x, double y, double radius, std::string_view css_class) {
  out_ += fmt::format(R"(<circle cx="{}" cy="{}" r="{}" class="{}"/>)", Length(x), Length(y),
                      Length(radius), css_class);
}

void Svg::Polyline(std::string_view points, std::string_view css_class) {
  out_ += fmt::format(R"(<polyline points="{}" class="{}"/>)", points, css_class);
}

void Svg::Label(double x, double y, Anchor anchor, std::string_view text,
                std::string_view css_class) {
  out_ += fmt::format(R"(<text x="{}" y="{}" text-anchor="{}" class="{}">{}</text>)", Length(x),
                      Length(y), AnchorName(anchor), css_class, Escape(text));
}

void Svg::Label(double x, double y, Anchor anchor, const Text& text) {
  out_ += fmt::format(R"(<text x="{}" y="{}" text-anchor="{}" class="axis">{}</text>)", Length(x),
                      Length(y), AnchorName(anchor), Bilingual(text, "tspan"));
}

std::string Svg::Take() { return std::move(out_) + "</svg>"; }

std::string Point(double x, double y) { return Length(x) + "," + Length(y); }

double LabelWidth(std::string_view text) {
  return static_cast<double>(DisplayWidth(ToPrintable(text))) * kCharacterWidth;
}

double DrawableAt(const std::vector<double>& values, size_t key) {
  if (key >= values.size() || !std::isfinite(values[key])) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return std::clamp(values[key], -kMaxDrawn, kMaxDrawn);
}

bool AreWhole(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) {
    return !std::isfinite(value) || value == std::floor(value);
  });
}

std::string SeriesClass(size_t series) { return fmt::format("s{}", series % kSeriesColours); }

std::vector<Tick> RoundTicks(double low, double high, int count, double min_step) {
  if (!(high > low)) high = low + std::max(std::abs(low) * 1e-3, 1.0);
  // A step that values of this size can resolve, and that is not lost below the smallest double.
  const double finest = std::max({std::abs(low) * 1e-12, std::abs(high) * 1e-12, 1e-280, min_step});
  const double step = RoundUp(std::max((high - low) / count, finest));
  const double first = std::floor(low / step + 1e-9);
  const double last = std::max(std::ceil(high / step - 1e-9), first + 1);
  std::vector<Tick> ticks;
  for (double i = first; i <= last; ++i) ticks.push_back({i * step, TickLabel(i * step, step)});
  return ticks;
}

size_t LabelStep(size_t count, double needed, double available) {
  const double least = static_cast<double>(count) * needed / std::max(available, 1.0);
  return least <= 1 ? 1 : static_cast<size_t>(RoundUp(least));
}

void DrawValueAxis(Svg& svg, const PlotArea& area, const Scale& scale,
                   const std::vector<Tick>& ticks, bool is_horizontal) {
  for (const Tick& tick : ticks) {
    const double at = scale.At(tick.value);
    if (is_horizontal) {
      svg.Line(at, area.top, at, area.bottom, "grid");
      svg.Label(at, area.bottom + 16, Anchor::kMiddle, tick.label);
    } else {
      svg.Line(area.left, at, area.right, at, "grid");
      svg.Label(area.left - 6, at + 4, Anchor::kEnd, tick.label);
    }
  }
}

double LabelMargin(const std::vector<Tick>& ticks) {
  double widest = 0;
  for (const Tick& tick : ticks) widest = std::max(widest, LabelWidth(tick.label));
  return widest + 10;
}

void DrawKeysBelow(Svg& svg, const PlotArea& area, const std::vector<std::string>& keys) {
  double widest = 0;
  std::vector<std::string> labels;
  const double slot = (area.right - area.left) / static_cast<double>(keys.size());
  // Where there are few, each has the room of its slot.
  const auto room = static_cast<size_t>(std::max(0.0, slot - kLabelGap) / kCharacterWidth);
  const size_t columns = std::max(room, kMaxLabelColumns);
  for (const std::string& key : keys) {
    labels.push_back(ShortenMiddle(ToPrintable(key), columns));
    widest = std::max(widest, LabelWidth(labels.back()));
  }
  const size_t step = LabelStep(keys.size(), widest + kLabelGap, area.right - area.left);
  for (size_t i = 0; i < keys.size(); i += step) {
    const double middle = area.left + (static_cast<double>(i) + 0.5) * slot;
    svg.Line(middle, area.bottom, middle, area.bottom + 4, "base");
    svg.Label(middle, area.bottom + 17, Anchor::kMiddle, labels[i]);
  }
}

}  // namespace steplens::table::html
