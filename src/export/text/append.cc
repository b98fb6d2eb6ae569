#include "export/text/append.h"

#include <charconv>
#include <cmath>
#include <cstring>

namespace steplens::exporting {
namespace {

// Appends |ns| / 1000 as "us" and returns the three decimals.
unsigned AppendWholeUs(std::string& out, int64_t ns) {
  uint64_t magnitude = static_cast<uint64_t>(ns);
  if (ns < 0) {
    out += '-';
    magnitude = 0 - magnitude;
  }
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof(digits), magnitude / 1000).ptr;
  out.append(digits, end);
  return static_cast<unsigned>(magnitude % 1000);
}

void AppendThreeDigits(std::string& out, unsigned value) {
  const char digits[3] = {static_cast<char>('0' + value / 100),
                          static_cast<char>('0' + value / 10 % 10),
                          static_cast<char>('0' + value % 10)};
  out.append(digits, 3);
}

}  // namespace

void AppendInt(std::string& out, int64_t value) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
}

void AppendUs(std::string& out, int64_t ns) {
  const unsigned decimals = AppendWholeUs(out, ns);
  out += '.';
  AppendThreeDigits(out, decimals);
}

void AppendUsNumber(std::string& out, int64_t ns) {
  if (ns == 0) {
    out += '0';
    return;
  }
  AppendUs(out, ns);
  size_t size = out.size();
  while (out[size - 1] == '0' && out[size - 2] != '.') --size;
  out.resize(size);
}

void AppendNumber(std::string& out, double value) {
  const double magnitude = std::fabs(value);
  char digits[40];
  const bool is_plain = magnitude == 0 || (magnitude >= 1e-4 && magnitude < 1e16);
  const auto format = is_plain ? std::chars_format::fixed : std::chars_format::scientific;
  const auto end = std::to_chars(digits, digits + sizeof(digits), value, format).ptr;
  out.append(digits, end);
  if (is_plain && std::memchr(digits, '.', static_cast<size_t>(end - digits)) == nullptr)
    out += ".0";
}

void AppendShortNumber(std::string& out, double value) {
  AppendNumber(out, value);
  if (out.ends_with(".0")) out.resize(out.size() - 2);
}

void AppendJsonNumber(std::string& out, double value) {
  if (std::isfinite(value)) {
    AppendShortNumber(out, value);
  } else {
    out += "null";
  }
}

std::string WithLineBreaks(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 16);
  for (const char c : text) {
    out += c;
    if (c == ';') out += "\r\n";
  }
  return out;
}

}  // namespace steplens::exporting
