#include "analysis/compare/rounding.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace steplens::analysis::compare {

double Round(double value, int decimals) {
  if (!std::isfinite(value)) return value;
  const std::string text = fmt::format("{:.{}f}", value, decimals);
  double rounded = 0;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded == 0 ? 0 : rounded;  // no -0
}

double Diff(double base, double comparison) { return Round(comparison - base, 2); }

double Ratio(double base, double comparison) {
  if (base == 0) return comparison == 0 ? 1 : std::numeric_limits<double>::infinity();
  return Round(comparison / base, 4);
}

}  // namespace steplens::analysis::compare
