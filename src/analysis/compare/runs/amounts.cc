#include "analysis/compare/runs/amounts.h"

#include <fmt/format.h>

#include <cmath>

namespace steplens::analysis::runs {
namespace {

struct Scale {
  double divisor = 1;
  const char* name = "";
};

Scale ScaleOf(double amount, Unit unit) {
  const double size = std::fabs(amount);
  if (unit == Unit::kBytes) {
    if (size >= 1024.0 * 1024 * 1024) return {1024.0 * 1024 * 1024, "GB"};
    if (size >= 1024.0 * 1024) return {1024.0 * 1024, "MB"};
    return {1024.0, "KB"};
  }
  if (size >= 1e9) return {1e9, "s"};
  if (size >= 1e6) return {1e6, "ms"};
  return {1e3, "us"};
}

}  // namespace

std::string AmountText(double amount, Unit unit, double scale) {
  const Scale by = ScaleOf(scale, unit);
  return fmt::format("{:.3f} {}", amount / by.divisor, by.name);
}

std::string AmountText(double amount, Unit unit) { return AmountText(amount, unit, amount); }

std::string SignedAmountText(double amount, Unit unit) {
  return (amount < 0 ? "" : "+") + AmountText(amount, unit);
}

std::string PercentText(double share) {
  if (std::isinf(share)) return share > 0 ? "new" : "gone";
  return fmt::format("{:+.2f} %", share * 100);
}

std::string ProbabilityText(double p) {
  return p < 0.0001 ? std::string("< 0.0001") : fmt::format("{:.4f}", p);
}

std::string DescribeDifference(const Difference& difference) {
  const Shift& shift = difference.shift;
  return fmt::format(
      "{}: {} -> {} ({}, 95 % range {} to {}, p {})", difference.name,
      AmountText(shift.a, difference.unit), AmountText(shift.b, difference.unit),
      PercentText(difference.relative()), SignedAmountText(shift.low, difference.unit),
      SignedAmountText(shift.high, difference.unit), ProbabilityText(difference.adjusted_p));
}

}  // namespace steplens::analysis::runs
