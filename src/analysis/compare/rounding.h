#pragma once

#include <cstdint>
#include <limits>

#include "store/maybe.h"

namespace steplens::analysis::compare {

// The decimal closest to the double, ties to even: Round(38.125, 2) is 38.12.
double Round(double value, int decimals);

inline double Us(int64_t ns) { return static_cast<double>(ns) / 1e3; }
double Us(store::MaybeInt) = delete;  // it is asked for first
inline double Ms(int64_t ns) { return static_cast<double>(ns) / 1e6; }

// The double closest to a time in microseconds; nanoseconds since the epoch are no doubles.
inline double EpochUs(int64_t ns) {
  return static_cast<double>(static_cast<long double>(ns) / 1000.0L);
}

// What the sheets say of two values: comparison - base with two decimals, and comparison / base
// with four. Two zeros are equal; a base of zero gives infinity, which sheets show as INF.
double Diff(double base, double comparison);
double Ratio(double base, double comparison);

inline constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

}  // namespace steplens::analysis::compare
