#pragma once

#include <string>
#include <vector>

#include "table/html/chart.h"

// One function per kind of chart; each lives in a file of its own.

namespace steplens::table::html {

struct LegendItem {
  std::string css_class;  // of its colour: "s0" ... "s7"
  Text name;
};

// What the drawing of a chart consists of.
struct Drawing {
  std::vector<LegendItem> legend;
  std::string svg;
  Text note;  // empty: nothing to say
};

Drawing Draw(const BarChart& chart);
Drawing Draw(const BoxPlot& chart);
Drawing Draw(const LineChart& chart);
Drawing Draw(const HeatMap& chart);
Drawing Draw(const Waterfall& chart);
Drawing Draw(const TimelineChart& chart);

}  // namespace steplens::table::html
