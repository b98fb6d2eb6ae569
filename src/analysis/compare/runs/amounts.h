#pragma once

#include <string>

#include "analysis/compare/runs/compare_runs.h"

namespace steplens::analysis::runs {

// "12.345 ms", "870 us", "1.503 GB": a time of so many ns, or so many bytes, in the unit that suits
// `scale`, which is of the same unit and may be another value of the same row.
std::string AmountText(double amount, Unit unit, double scale);
std::string AmountText(double amount, Unit unit);
std::string SignedAmountText(double amount, Unit unit);  // "+6.5 ms"
std::string PercentText(double share);                   // "+6.5 %", "new" if infinite
std::string ProbabilityText(double p);                   // "0.0003", "< 0.0001"

// "e2e: 102.3 ms -> 108.9 ms (+6.5 %, 95 % range +5.9 ms to +7.1 ms, p 0.0003)"
std::string DescribeDifference(const Difference& difference);

}  // namespace steplens::analysis::runs
