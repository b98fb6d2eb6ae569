#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "table/html/text.h"

// Charts as inline SVG. Values are plain doubles in the unit that the label names; NaN and
// infinities are gaps. A chart is as wide as the page and stays readable from one key to thousands:
// labels are thinned out, and where there are more keys than pixels, neighbours are drawn as their
// mean and a note says so.

namespace steplens::table::html {

struct Series {
  Text name;
  std::vector<double> values;  // one per key; those missing are gaps
};

enum class BarLayout : uint8_t {
  kStacked,  // the series of a key add up to one bar
  kGrouped,  // they stand side by side
};

enum class Direction : uint8_t { kVertical, kHorizontal };

struct BarChart {
  Text key_label;    // "Rank"
  Text value_label;  // with its unit: "Time (ms)"
  std::vector<std::string> keys;
  std::vector<Series> series;
  BarLayout layout = BarLayout::kStacked;
  Direction direction = Direction::kVertical;
  std::vector<size_t> highlighted;  // with one series: keys, by index, that stand out in red, the
                                    // others turning grey
};

struct Box {
  double min = 0;
  double q1 = 0;
  double median = 0;
  double q3 = 0;
  double max = 0;
};

struct BoxPlot {
  Text key_label;
  Text value_label;
  std::vector<std::string> keys;
  std::vector<Box> boxes;  // one per key
};

struct LineChart {
  Text x_label;
  Text value_label;
  std::vector<double> x;  // ascending
  std::vector<Series> series;
};

struct HeatMap {
  Text row_label;
  Text column_label;
  Text value_label;
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  std::vector<double> values;  // row by row, rows.size() * columns.size()

  // Where most cells are empty: those that are not, by row and then column, instead of `values`.
  struct Cell {
    size_t row = 0;
    size_t column = 0;
    double value = 0;
  };
  std::vector<Cell> cells{};
  double least_span = 0;  // of the colour scale, so that what hardly differs looks alike
};

// The way from one total to another: a bar for each total, and between them the changes, each from
// where the one before ended.
struct Waterfall {
  Text value_label;
  Text first;  // the names of the totals
  Text last;
  double first_value = 0;
  double last_value = 0;
  struct Change {
    Text name;
    double value = 0;
  };
  std::vector<Change> changes;
};

// Lanes of slices over a time axis that begins at 0.
struct TimelineChart {
  Text x_label;
  double length = 0;  // of the axis
  struct Slice {
    double begin = 0;
    double end = 0;
    std::string name;
    bool is_highlighted = false;
  };
  struct Lane {
    Text name;
    size_t series = 0;  // whose colour its slices have
    std::vector<Slice> slices;
  };
  std::vector<Lane> lanes;
  std::vector<Text> series;  // the legend
  Text highlighted;          // what stands out, for the legend; empty: nothing does
};

struct Chart {
  Text title;
  std::variant<BarChart, BoxPlot, LineChart, HeatMap, Waterfall, TimelineChart> drawing;
};

// A <figure>: title, legend, drawing and, where something was condensed, a note.
std::string DrawChart(const Chart& chart);

}  // namespace steplens::table::html
