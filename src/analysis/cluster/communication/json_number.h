#pragma once

#include <cmath>
#include <string>

#include "table/python_double.h"

namespace steplens::analysis::cluster {

// A number as Python's json writes a float: "2.0", "0.25", "1e-05", "100000.0"; what is not finite
// (not known) is "0".
inline void AppendJsonFloat(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += '0';
    return;
  }
  table::AppendPythonDouble(out, value);
}

inline std::string JsonFloat(double value) {
  std::string out;
  AppendJsonFloat(out, value);
  return out;
}

// Half to even at the fourth decimal, as Python's round has it.
inline double RoundTo4(double value) {
  // nearbyint rounds halves to even; the scaled value is exact enough for what is printed.
  return std::nearbyint(value * 1e4) / 1e4;
}

// size / time, four decimals; 0 for no time.
inline double Ratio4(double part, double whole) {
  return whole < 1e-15 ? 0 : RoundTo4(part / whole);
}

}  // namespace steplens::analysis::cluster
