#pragma once

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

// Numbers written to memory with room for them: each function puts the text at `at`, at most
// kMaxNumberBytes long (bytes behind the text may be overwritten, too), and returns its end.
// Result files are mostly numbers; these are what their speed hangs on.

namespace steplens::exporting {

inline constexpr size_t kMaxNumberBytes = 48;

namespace digits {

// The three digits of 0 to 999, and how many of them are left without zeros at the end (at least
// one).
struct Three {
  char text[3];
  char significant;
};
inline constexpr std::array<Three, 1000> kThree = [] {
  std::array<Three, 1000> all{};
  for (size_t i = 0; i < all.size(); ++i) {
    const auto significant = static_cast<char>(i % 10 != 0 ? 3 : i % 100 != 0 ? 2 : 1);
    all[i] = {{static_cast<char>('0' + i / 100), static_cast<char>('0' + i / 10 % 10),
               static_cast<char>('0' + i % 10)},
              significant};
  }
  return all;
}();

// The digits of 0 to 999 without zeros in front, and how many they are.
struct UpToThree {
  char text[3];
  char size;
};
inline constexpr std::array<UpToThree, 1000> kUpToThree = [] {
  std::array<UpToThree, 1000> all{};
  for (size_t i = 0; i < all.size(); ++i) {
    const size_t skipped = i >= 100 ? 0 : i >= 10 ? 1 : 2;
    for (size_t digit = skipped; digit < 3; ++digit)
      all[i].text[digit - skipped] = kThree[i].text[digit];
    all[i].size = static_cast<char>(3 - skipped);
  }
  return all;
}();

// Both write four bytes, which is one move.
inline char* PutThree(char* at, uint64_t value) {
  std::memcpy(at, &kThree[value], sizeof(Three));
  return at + 3;
}
inline char* PutUnder1000(char* at, uint64_t value) {
  std::memcpy(at, &kUpToThree[value], sizeof(UpToThree));
  return at + kUpToThree[value].size;
}
inline char* PutNine(char* at, uint64_t value) {
  at = PutThree(at, value / 1'000'000);
  at = PutThree(at, value / 1000 % 1000);
  return PutThree(at, value % 1000);
}
inline char* PutUnder1e9(char* at, uint64_t value) {
  if (value < 1000) return PutUnder1000(at, value);
  const uint64_t thousands = value / 1000;
  at = thousands < 1000 ? PutUnder1000(at, thousands)
                        : PutThree(PutUnder1000(at, thousands / 1000), thousands % 1000);
  return PutThree(at, value % 1000);
}

// Exactly `count` digits.
inline char* PutExactly(char* at, uint64_t value, unsigned count) {
  char* const end = at + count;
  char* place = end;
  for (; place - at >= 3; value /= 1000) std::memcpy(place -= 3, kThree[value % 1000].text, 3);
  for (; place != at; value /= 10) *--place = static_cast<char>('0' + value % 10);
  return end;
}

inline constexpr std::array<uint64_t, 19> kPowersOf5 = [] {
  std::array<uint64_t, 19> powers{1};
  for (size_t i = 1; i < powers.size(); ++i) powers[i] = 5 * powers[i - 1];
  return powers;
}();

// Up to what whole part d exact decimals of a binary fraction are the shortest text of its double:
// a shorter text would be off by 10^-d at least, so half the distance of two doubles has to be
// less.
inline constexpr std::array<uint64_t, 19> kExactBelow = [] {
  std::array<uint64_t, 19> limits{};
  double unit = 1;  // 10^-d
  for (uint64_t& limit : limits) {
    limit = 1;
    while (limit < (uint64_t{1} << 40) && static_cast<double>(limit) < unit * 0x1p52) limit *= 2;
    limit /= 2;
    unit /= 10;
  }
  return limits;
}();

}  // namespace digits

inline char* PutUint(char* at, uint64_t value) {
  constexpr uint64_t k1e9 = 1'000'000'000;
  if (value < k1e9) return digits::PutUnder1e9(at, value);
  return digits::PutNine(PutUint(at, value / k1e9), value % k1e9);
}

// Writes the '-' of a negative value at `at`, which moves behind it; returns the magnitude.
inline uint64_t PutSign(char*& at, int64_t value) {
  if (value >= 0) return static_cast<uint64_t>(value);
  *at++ = '-';
  return 0 - static_cast<uint64_t>(value);
}

inline char* PutInt(char* at, int64_t value) {
  const uint64_t magnitude = PutSign(at, value);
  return PutUint(at, magnitude);
}

// Nanoseconds as microseconds with exactly three decimals: "1736408883704643.212".
inline char* PutUs(char* at, int64_t ns) {
  const uint64_t magnitude = PutSign(at, ns);
  at = PutUint(at, magnitude / 1000);
  *at++ = '.';
  return digits::PutThree(at, magnitude % 1000);
}

// Nanoseconds as a number of microseconds without superfluous zeros: "145.57", "12.0", "0".
inline char* PutUsNumber(char* at, int64_t ns) {
  if (ns == 0) {
    *at = '0';
    return at + 1;
  }
  const uint64_t magnitude = PutSign(at, ns);
  at = PutUint(at, magnitude / 1000);
  *at++ = '.';
  const digits::Three& decimals = digits::kThree[magnitude % 1000];
  std::memcpy(at, &decimals, sizeof(decimals));
  return at + decimals.significant;
}

// The shortest text that reads back as the same double, laid out as Python does it: "0.0", "1.5",
// "4.1e-05". Not for NaN and infinities.
inline char* PutNumber(char* at, double value) {
  const double magnitude = std::fabs(value);
  const bool is_plain = magnitude == 0 || (magnitude >= 1e-4 && magnitude < 1e16);
  const auto format = is_plain ? std::chars_format::fixed : std::chars_format::scientific;
  char* end = std::to_chars(at, at + kMaxNumberBytes - 2, value, format).ptr;
  const bool is_whole = std::memchr(at, '.', static_cast<size_t>(end - at)) == nullptr;
  if (is_plain && is_whole) {
    *end++ = '.';
    *end++ = '0';
  }
  return end;
}

// value / 2^shift (shift up to 20) as PutNumber writes it. Such a fraction ends after as many
// decimals as it has binary places, and mostly that exact text is the shortest one: then no double
// is needed.
inline char* PutBinaryFraction(char* at, int64_t value, unsigned shift) {
  const auto bits = static_cast<uint64_t>(value);
  const uint64_t whole = bits >> shift;
  const uint64_t rest = bits & ((uint64_t{1} << shift) - 1);
  const unsigned decimals = rest == 0 ? 0 : shift - static_cast<unsigned>(std::countr_zero(rest));
  constexpr int64_t kSmallest = 128;  // of 2^20: below 1e-4 the layout is another one
  const bool is_exact = value >= kSmallest && decimals < digits::kExactBelow.size() &&
                        whole < digits::kExactBelow[decimals];
  if (!is_exact) {
    return PutNumber(at, static_cast<double>(value) / static_cast<double>(uint64_t{1} << shift));
  }
  at = PutUint(at, whole);
  *at++ = '.';
  if (decimals == 0) {
    *at++ = '0';
    return at;
  }
  // rest / 2^d = rest * 5^d / 10^d
  return digits::PutExactly(at, (rest >> (shift - decimals)) * digits::kPowersOf5[decimals],
                            decimals);
}

}  // namespace steplens::exporting
