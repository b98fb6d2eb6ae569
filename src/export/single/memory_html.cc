#include "export/single/memory_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace steplens::exporting {
namespace {

constexpr double kWidth = 1100;
constexpr double kHeight = 520;
constexpr double kLeft = 80;
constexpr double kTop = 20;
constexpr double kBottom = 50;
constexpr size_t kMaxPoints = 1500;

struct Style {
  std::string_view name;
  std::string_view color;
};
// In the order of MemoryCategory; the colours of PyTorch's own plot.
constexpr std::array<Style, kMemoryCategories> kStyles = {{{"Parameter", "#2e8b57"},
                                                           {"Optimizer state", "#daa520"},
                                                           {"Input", "#1a1a1a"},
                                                           {"Temporary", "#8a2be2"},
                                                           {"Activation", "#d62728"},
                                                           {"Gradient", "#6495ed"},
                                                           {"Autograd detail", "#4169e1"},
                                                           {"Unknown", "#9e9e9e"}}};

int64_t Total(const MemoryPoint& point) {
  return std::accumulate(point.bytes.begin(), point.bytes.end(), int64_t{0});
}

// The highest point of each of kMaxPoints parts.
std::vector<MemoryPoint> Thin(const std::vector<MemoryPoint>& points) {
  if (points.size() <= kMaxPoints) return points;
  std::vector<MemoryPoint> thin;
  for (size_t part = 0; part < kMaxPoints; ++part) {
    const auto first = points.begin() + static_cast<long>(part * points.size() / kMaxPoints);
    const auto last = points.begin() + static_cast<long>((part + 1) * points.size() / kMaxPoints);
    thin.push_back(*std::max_element(first, last, [](const MemoryPoint& a, const MemoryPoint& b) {
      return Total(a) < Total(b);
    }));
  }
  return thin;
}

std::string BytesText(double bytes) {
  constexpr std::string_view kUnits[] = {"B", "KB", "MB", "GB", "TB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit < 4; ++unit) bytes /= 1024;
  return fmt::format("{:.3g} {}", bytes, kUnits[unit]);
}

class Plot {
 public:
  explicit Plot(const std::vector<MemoryPoint>& points) : points_(points) {
    for (const MemoryPoint& point : points_) peak_bytes_ = std::max(peak_bytes_, Total(point));
    first_ns_ = points_.front().ns;
    span_ns_ = std::max<int64_t>(1, points_.back().ns - first_ns_);
  }

  std::string Svg() const {
    std::string svg =
        fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Memory over time\">\n",
                    kWidth, kHeight);
    svg += Axes();
    std::vector<int64_t> base(points_.size(), 0);
    for (size_t category = 0; category < kMemoryCategories; ++category) svg += Area(category, base);
    return svg + "</svg>\n";
  }
  int64_t peak_bytes() const { return peak_bytes_; }

 private:
  double X(int64_t ns) const {
    return kLeft + (kWidth - kLeft - 10) * static_cast<double>(ns - first_ns_) /
                       static_cast<double>(span_ns_);
  }
  double Y(int64_t bytes) const {
    const double share =
        static_cast<double>(bytes) / static_cast<double>(std::max<int64_t>(1, peak_bytes_));
    return kHeight - kBottom - (kHeight - kTop - kBottom) * share;
  }

  // Steps: memory stays as it is until the next point. `base` is what lies below, and grows.
  std::string Area(size_t category, std::vector<int64_t>& base) const {
    std::string forth;
    std::string back;
    bool is_used = false;
    for (size_t i = 0; i < points_.size(); ++i) {
      const int64_t bytes = std::max<int64_t>(0, points_[i].bytes[category]);
      is_used = is_used || bytes > 0;
      const double x = X(points_[i].ns);
      const double end_x = i + 1 < points_.size() ? X(points_[i + 1].ns) : kWidth - 10;
      forth += fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} ", x, Y(base[i] + bytes), end_x,
                           Y(base[i] + bytes));
      back.insert(0, fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} ", end_x, Y(base[i]), x, Y(base[i])));
      base[i] += bytes;
    }
    if (!is_used) return {};
    return fmt::format("<polygon fill=\"{}\" points=\"{}{}\"><title>{}</title></polygon>\n",
                       kStyles[category].color, forth, back, kStyles[category].name);
  }

  std::string Axes() const {
    std::string svg;
    constexpr int kTicks = 5;
    for (int tick = 0; tick <= kTicks; ++tick) {
      const auto bytes = static_cast<int64_t>(static_cast<double>(peak_bytes_) * tick / kTicks);
      svg += fmt::format(
          "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"#ccc\"/>"
          "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
          kLeft, kWidth - 10, Y(bytes), kLeft - 6, Y(bytes) + 4,
          BytesText(static_cast<double>(bytes)));
      const int64_t ns = first_ns_ + span_ns_ / kTicks * tick;
      svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:.3f} ms</text>\n",
                         X(ns), kHeight - kBottom + 20, static_cast<double>(ns - first_ns_) / 1e6);
    }
    return svg;
  }

  const std::vector<MemoryPoint>& points_;
  int64_t peak_bytes_ = 0;
  int64_t first_ns_ = 0;
  int64_t span_ns_ = 1;
};

std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string MemoryHtml(const std::vector<MemoryPoint>& points, std::string_view device) {
  const std::vector<MemoryPoint> thin = Thin(points);
  const Plot plot(thin);
  std::string legend;
  for (const Style& style : kStyles)
    legend +=
        fmt::format("<span><i style=\"background:{}\"></i>{}</span>\n", style.color, style.name);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<title>Memory timeline</title>\n<style>body{{font:14px sans-serif;margin:24px}}"
      "svg{{max-width:1200px;width:100%}}text{{font-size:12px}}"
      "span{{margin-right:16px}}i{{display:inline-block;width:12px;height:12px;"
      "margin-right:4px}}</style></head><body>\n"
      "<h1>Memory of {}</h1>\n<p>Peak {} in allocated blocks</p>\n{}<p>{}</p>\n</body></html>\n",
      Escaped(device), BytesText(static_cast<double>(plot.peak_bytes())), plot.Svg(), legend);
}

}  // namespace steplens::exporting
