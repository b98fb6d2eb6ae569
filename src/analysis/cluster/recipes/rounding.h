#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace steplens::analysis::cluster {

// To so many decimals, ties to even, as pandas does it for the reference's tables.
inline double RoundTo(double value, int decimals) {
  const double scale = std::pow(10.0, decimals);
  return std::nearbyint(value * scale) / scale;
}

// To so many decimals, ties away from zero, as the SQLite of the reference's Python does it (before
// 3.43). What people would write as a tie is one there: 1598.85 becomes 1598.9, although the double
// is a little less. So up to 15 digits count half a unit more in the 16th.
inline double SqliteRound(double value, int decimals) {
  constexpr double kWhole = 4503599627370496;  // from here on doubles have no fraction
  if (!(std::fabs(value) < kWhole)) return value;
  double scale = 1;
  for (int i = 0; i < decimals; ++i) scale *= 10;
  const int exponent = static_cast<int>(std::bit_cast<uint64_t>(value) >> 52 & 0x7ff) - 1023;
  const long double size = std::fabs(value);
  long double half = 0.5 / scale;
  if (decimals + exponent / 3 < 15) half += size * 3e-16;
  return std::copysign(static_cast<double>(std::floor((size + half) * scale) / scale), value);
}

}  // namespace steplens::analysis::cluster
