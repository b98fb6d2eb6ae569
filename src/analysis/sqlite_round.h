#pragma once

#include <cmath>

namespace steplens::analysis {

// SQLite's ROUND: half away from zero at the given decimal, of the double as it is. (252.385 is a
// little less than that and becomes 252.38.)
inline double SqliteRound(double value, int decimals) {
  if (!std::isfinite(value)) return value;
  long double scale = 1;
  for (int i = 0; i < decimals; ++i) scale *= 10;
  const long double scaled = std::fabs(static_cast<long double>(value)) * scale;
  if (scaled > 1e15L) return value;
  return std::copysign(static_cast<double>(std::floor(scaled + 0.5L) / scale), value);
}

}  // namespace steplens::analysis
