#include "table/html/condense.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "table/html/svg.h"

namespace steplens::table::html {

size_t GroupSize(size_t count, size_t max_count) {
  return std::max<size_t>((count + max_count - 1) / max_count, 1);
}

std::vector<std::string> CondenseKeys(const std::vector<std::string>& keys, size_t group_size) {
  if (group_size == 1) return keys;
  std::vector<std::string> out;
  for (size_t first = 0; first < keys.size(); first += group_size) {
    const size_t last = std::min(first + group_size, keys.size()) - 1;
    out.push_back(first == last ? keys[first] : keys[first] + "–" + keys[last]);
  }
  return out;
}

std::vector<double> CondenseValues(const std::vector<double>& values, size_t group_size) {
  if (group_size == 1) return values;
  std::vector<double> out;
  for (size_t first = 0; first < values.size(); first += group_size) {
    double mean = std::numeric_limits<double>::quiet_NaN();
    size_t count = 0;
    for (size_t i = first; i < std::min(first + group_size, values.size()); ++i) {
      const double value = DrawableAt(values, i);
      if (std::isnan(value)) continue;
      ++count;
      mean = count == 1 ? value : mean + (value - mean) / static_cast<double>(count);
    }
    out.push_back(mean);
  }
  return out;
}

Text CondensedNote(size_t group_size) {
  if (group_size == 1) return {};
  return {fmt::format("Drawn as the mean of {} neighbours each.", group_size),
          fmt::format("每 {} 个相邻项取平均值绘制。", group_size)};
}

}  // namespace steplens::table::html
