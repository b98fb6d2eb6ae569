#pragma once

#include <charconv>
#include <cmath>
#include <string>

namespace steplens::analysis::cluster {

// A number as Python's json writes a float: "2.0", "0.25", "1e-05", "100000.0"; what is not finite
// (not known) is "0".
inline void AppendJsonFloat(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += '0';
    return;
  }
  const double size = std::fabs(value);
  const bool is_plain = value == 0 || (size >= 1e-4 && size < 1e16);
  char buffer[40];
  const auto result =
      std::to_chars(buffer, buffer + sizeof buffer, value,
                    is_plain ? std::chars_format::fixed : std::chars_format::scientific);
  out.append(buffer, result.ptr);
  if (is_plain && std::trunc(value) == value) out += ".0";
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
