#pragma once

#include <algorithm>
#include <cstdint>

#include "analysis/time_math.h"

namespace steplens::analysis {

// Count, sum, extremes and population variance of durations.
struct DurationStats {
  int64_t count = 0;
  int64_t total_ns = 0;
  int64_t min_ns = 0;
  int64_t max_ns = 0;
  long double squares_us2 =
      0;  // sum of squares; 64 bits of mantissa keep the variance below honest

  void Add(int64_t dur_ns) {
    const long double us = static_cast<long double>(dur_ns) / 1000;
    Add({1, dur_ns, dur_ns, dur_ns, us * us});
  }
  void Add(const DurationStats& other) {
    if (other.count == 0) return;
    min_ns = count == 0 ? other.min_ns : std::min(min_ns, other.min_ns);
    max_ns = count == 0 ? other.max_ns : std::max(max_ns, other.max_ns);
    count += other.count;
    total_ns = AddNs(total_ns, other.total_ns);
    squares_us2 += other.squares_us2;
  }

  int64_t avg_ns() const { return DivideNs(total_ns, count); }
  double variance_us2() const {
    if (count == 0) return 0;
    const long double mean_us = static_cast<long double>(total_ns) / 1000 / count;
    return static_cast<double>(std::max(0.0L, squares_us2 / count - mean_us * mean_us));
  }
};

}  // namespace steplens::analysis
