#include "base/number.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace steplens {
namespace {

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

constexpr double kExactPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                        1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                        1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// A decimal as sign, all digits as an integer, and the power of ten they are scaled by.
struct Decimal {
  bool negative = false;
  bool overflow = false;  // more significant digits than 19: `digits` holds the leading ones
  uint64_t digits = 0;
  int exponent = 0;
  bool round_up = false;  // the first dropped digit was 5 or more
};

std::optional<Decimal> ParseDecimal(std::string_view text) {
  Decimal out;
  size_t i = 0;
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) out.negative = text[i++] == '-';
  bool any = false;
  bool after_point = false;
  int significant = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.' && !after_point) {
      after_point = true;
      continue;
    }
    if (!IsDigit(c)) break;
    any = true;
    if (significant < 19) {
      out.digits = out.digits * 10 + static_cast<uint64_t>(c - '0');
      if (out.digits != 0) ++significant;
      if (after_point) --out.exponent;
    } else {
      if (significant == 19) {
        out.round_up = c >= '5';
        ++significant;
      }
      out.overflow = true;
      if (!after_point) ++out.exponent;
    }
  }
  if (!any) return std::nullopt;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    int exponent = 0;
    const char* first = text.data() + i + 1;
    const char* last = text.data() + text.size();
    if (first < last && *first == '+') ++first;
    const auto [end, error] = std::from_chars(first, last, exponent);
    if (error != std::errc() || end != last || exponent > 1000 || exponent < -1000) {
      return std::nullopt;
    }
    out.exponent += exponent;
    i = text.size();
  }
  if (i != text.size()) return std::nullopt;
  return out;
}

// Eight digits at once, as the bytes of one little-endian word; nothing if one of them is not a
// digit.
std::optional<uint64_t> EightDigits(uint64_t word) {
  constexpr uint64_t kHighHalves = 0xF0F0F0F0F0F0F0F0;
  const uint64_t beyond_nine = (word + 0x0606060606060606) & kHighHalves;
  if (((word & kHighHalves) | (beyond_nine >> 4)) != 0x3333333333333333) return std::nullopt;
  word = (word & 0x0F0F0F0F0F0F0F0F) * 2561 >> 8;             // pairs
  word = (word & 0x00FF00FF00FF00FF) * 6553601 >> 16;         // fours
  return (word & 0x0000FFFF0000FFFF) * 42949672960001 >> 32;  // all eight
}

template <typename Word>
uint64_t LoadWord(const char* text) {
  Word word = 0;
  std::memcpy(&word, text, sizeof(word));
  return word;
}

// A text of one to eight bytes as a word, its first byte lowest, zeros behind its last.
uint64_t LoadShort(std::string_view text) {
  const size_t size = text.size();
  const char* const p = text.data();
  if (size >= 4) {  // two halves, which may share bytes
    return LoadWord<uint32_t>(p) | LoadWord<uint32_t>(p + size - 4) << (size - 4) * 8;
  }
  const auto byte = [p](size_t i) { return uint64_t{static_cast<unsigned char>(p[i])} << i * 8; };
  return byte(0) | byte(size / 2) | byte(size - 1);
}

// Digits with or without a point among or behind them, eight bytes at the most, as most durations
// and values of counters are written; without a loop, whose end the processor would have to guess.
struct ShortDecimal {
  uint64_t digits = 0;
  size_t decimals = 0;
  bool is_whole = true;  // no point
};
std::optional<ShortDecimal> ParseShortDecimal(std::string_view text) {
  if (text.empty() || text.size() > 8) return std::nullopt;
  constexpr uint64_t kZeroDigits = 0x3030303030303030;
  uint64_t word = LoadShort(text);
  ShortDecimal out;
  size_t count = text.size();
  const uint64_t difference = word ^ 0x2E2E2E2E2E2E2E2E;  // the first zero byte is a point
  const uint64_t points = (difference - 0x0101010101010101) & ~difference & 0x8080808080808080;
  if (points != 0) {
    const auto shift = static_cast<size_t>(std::countr_zero(points)) - 7;
    if (shift == 0) return std::nullopt;
    out.is_whole = false;
    out.decimals = text.size() - 1 - shift / 8;
    const uint64_t before = (uint64_t{1} << shift) - 1;
    word = (word & before) | ((word >> 8) & ~before);
    --count;
  }
  if (count < 8) word = word << (8 - count) * 8 | kZeroDigits >> count * 8;
  const auto digits = EightDigits(word);
  if (!digits) return std::nullopt;
  out.digits = *digits;
  return out;
}

}  // namespace

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<int64_t> ParseScaled(std::string_view text, int digits) {
  const auto decimal = ParseDecimal(Trim(text));
  if (!decimal) return std::nullopt;
  uint64_t value = decimal->digits;
  int shift = decimal->exponent + digits;
  if (value == 0) return 0;
  bool round_up = decimal->round_up && shift == 0;
  for (; shift > 0; --shift) {
    if (value > std::numeric_limits<uint64_t>::max() / 10) return std::nullopt;
    value *= 10;
  }
  for (; shift < 0 && (value != 0 || round_up); ++shift) {
    round_up = value % 10 >= 5;
    value /= 10;
  }
  if (shift < 0) round_up = false;
  value += round_up ? 1 : 0;
  if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
  const auto magnitude = static_cast<int64_t>(value);
  return decimal->negative ? -magnitude : magnitude;
}

// A time of our days: with nanoseconds, as every Ascend trace writes it ("1736408883704643.212"),
// or in whole microseconds, as Kineto did.
static std::optional<int64_t> ParseEpochUs(std::string_view text) {
  if ((text.size() != 16 && text.size() != 20) || text[0] > '8') return std::nullopt;
  const auto high = EightDigits(LoadWord<uint64_t>(text.data()));
  const auto low = EightDigits(LoadWord<uint64_t>(text.data() + 8));
  if (!high || !low) return std::nullopt;
  const auto ns = static_cast<int64_t>(*high * 100000000 + *low) * 1000;
  if (text.size() == 16) return ns;
  if (text[16] != '.' || !IsDigit(text[17]) || !IsDigit(text[18]) || !IsDigit(text[19]))
    return std::nullopt;
  return ns + (text[17] - '0') * 100 + (text[18] - '0') * 10 + (text[19] - '0');
}

std::optional<int64_t> ParseUsToNs(std::string_view text) {
  if (const auto epoch = ParseEpochUs(text)) return epoch;
  if (const auto decimal = ParseShortDecimal(text); decimal && decimal->decimals <= 3) {
    constexpr std::array<uint16_t, 4> kMissing = {1000, 100, 10, 1};
    return static_cast<int64_t>(decimal->digits * kMissing[decimal->decimals]);
  }
  // The common form, digits[.digits], without the general machinery. Sixteen digits before the
  // point and three after it fit into 64 bits without a sign.
  const char* p = text.data();
  const char* end = p + text.size();
  const char* first = p;
  uint64_t value = 0;
  while (p < end && IsDigit(*p)) value = value * 10 + static_cast<uint64_t>(*p++ - '0');
  if (p == first || p - first > 16) return ParseScaled(text, 3);
  int decimals = 0;
  if (p < end && *p == '.') {
    for (++p; p < end && decimals < 3 && IsDigit(*p); ++decimals) {
      value = value * 10 + static_cast<uint64_t>(*p++ - '0');
    }
  }
  for (; decimals < 3; ++decimals) value *= 10;
  if (p == end && value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return static_cast<int64_t>(value);
  }
  return ParseScaled(text, 3);
}

std::optional<int64_t> ParseInt64(std::string_view text) {
  constexpr size_t kMaxPlain = 18;  // digits that fit for certain
  if (const auto decimal = ParseShortDecimal(text); decimal && decimal->is_whole) {
    return static_cast<int64_t>(decimal->digits);
  }
  if (!text.empty() && text.size() <= kMaxPlain && std::all_of(text.begin(), text.end(), IsDigit)) {
    int64_t plain = 0;
    for (const char c : text) plain = plain * 10 + (c - '0');
    return plain;
  }
  text = Trim(text);
  int64_t value = 0;
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> ParseDouble(std::string_view text) {
  if (const auto decimal = ParseShortDecimal(text)) {
    return static_cast<double>(decimal->digits) / kExactPowersOfTen[decimal->decimals];
  }
  text = Trim(text);
  const auto decimal = ParseDecimal(text);
  if (!decimal) return std::nullopt;
  // Both factors exact: one division or multiplication rounds correctly.
  if (!decimal->overflow && decimal->digits <= (uint64_t{1} << 53) && decimal->exponent <= 22 &&
      decimal->exponent >= -22) {
    auto value = static_cast<double>(decimal->digits);
    value = decimal->exponent < 0 ? value / kExactPowersOfTen[-decimal->exponent]
                                  : value * kExactPowersOfTen[decimal->exponent];
    return decimal->negative ? -value : value;
  }
  if (text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::string FormatNsAsUs(int64_t ns) {
  const bool negative = ns < 0;
  const uint64_t magnitude = negative ? ~static_cast<uint64_t>(ns) + 1 : static_cast<uint64_t>(ns);
  std::string out = negative ? "-" : "";
  out += std::to_string(magnitude / 1000);
  out += '.';
  const uint64_t fraction = magnitude % 1000;
  out += static_cast<char>('0' + fraction / 100);
  out += static_cast<char>('0' + fraction / 10 % 10);
  out += static_cast<char>('0' + fraction % 10);
  return out;
}

std::string FormatDouble(double value) {
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, result.ptr);
}

}  // namespace steplens
