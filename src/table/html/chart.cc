#include "table/html/chart.h"

#include <fmt/format.h>

#include "table/html/drawing.h"

namespace steplens::table::html {

std::string DrawChart(const Chart& chart) {
  const Drawing drawing =
      std::visit([](const auto& kind) -> Drawing { return Draw(kind); }, chart.drawing);
  std::string out = "<figure><figcaption>" + Bilingual(chart.title) + "</figcaption>";
  if (!drawing.legend.empty()) {
    out += R"(<div class="legend">)";
    for (const LegendItem& item : drawing.legend) {
      out +=
          fmt::format(R"(<span><i class="{}"></i>{}</span>)", item.css_class, Bilingual(item.name));
    }
    out += "</div>";
  }
  const Text nothing{"Nothing to draw.", "没有可绘制的数据。"};
  out += drawing.svg.empty() ? "<p class=\"note\">" + Bilingual(nothing) + "</p>" : drawing.svg;
  if (!drawing.note.en.empty()) out += "<p class=\"note\">" + Bilingual(drawing.note) + "</p>";
  return out + "</figure>\n";
}

}  // namespace steplens::table::html
