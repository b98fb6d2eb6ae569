#pragma once

#include <cmath>

namespace steplens::analysis::cluster {

// To so many decimals, ties to even, as pandas does it for the reference's tables.
inline double RoundTo(double value, int decimals) {
  const double scale = std::pow(10.0, decimals);
  return std::nearbyint(value * scale) / scale;
}

}  // namespace steplens::analysis::cluster
