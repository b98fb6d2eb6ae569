#include "table/double_text.h"

#include <fmt/format.h>

#include <cmath>

#include "base/number.h"

namespace steplens::table {

std::string DoubleText(double value, int decimals) {
  constexpr int kDigitsOfDouble = 17;
  if (std::isnan(value)) return "";
  if (std::abs(value) >= 1e15 || decimals >= kDigitsOfDouble) return FormatDouble(value);
  return fmt::format("{:.{}f}", value, decimals);
}

}  // namespace steplens::table
