#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace steplens::analysis::cluster {

// The middle value; 0 of nothing.
inline double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  const size_t half = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<int64_t>(half), values.end());
  if (values.size() % 2 == 1) return values[half];
  const double high = values[half];
  return (*std::max_element(values.begin(), values.begin() + static_cast<int64_t>(half)) + high) /
         2;
}

// Spread around the median that a few outliers do not change; equals the standard deviation for
// normally distributed values.
inline double RobustSpread(const std::vector<double>& values) {
  const double middle = Median(values);
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::fabs(value - middle));
  return 1.4826 * Median(std::move(distances));
}

}  // namespace steplens::analysis::cluster
