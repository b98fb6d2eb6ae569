#pragma once

#include <charconv>
#include <cmath>
#include <string>

namespace steplens::table {

// A finite double as Python prints it: plain digits from 0.0001 to 10^16, and always with a point
// or an exponent ("2.0", "100000.0", "1e-05").
inline void AppendPythonDouble(std::string& out, double value) {
  const double size = std::fabs(value);
  const bool is_plain = value == 0 || (size >= 1e-4 && size < 1e16);
  char buffer[40];
  const auto result =
      std::to_chars(buffer, buffer + sizeof buffer, value,
                    is_plain ? std::chars_format::fixed : std::chars_format::scientific);
  out.append(buffer, result.ptr);
  if (is_plain && std::trunc(value) == value) out += ".0";
}

}  // namespace steplens::table
