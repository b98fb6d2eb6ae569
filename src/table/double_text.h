#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "base/number.h"

namespace steplens::table {

// A cell for people: so many decimals, nothing for NaN. Beyond these limits a double has no more
// digits to show in a fixed-point form: times in us since the epoch, large sums, tiny shares. The
// shortest form that means the same value keeps them apart.
inline std::string DoubleText(double value, int decimals) {
  constexpr int kDigitsOfDouble = 17;
  if (std::isnan(value)) return "";
  if (std::abs(value) >= 1e15 || decimals >= kDigitsOfDouble) return FormatDouble(value);
  return fmt::format("{:.{}f}", value, decimals);
}

}  // namespace steplens::table
