#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

namespace steplens {

// a + b, held at the ends of the range: times of damaged input must not overflow.
inline int64_t AddSaturating(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min() + 1;
}

// a - b, held likewise.
inline int64_t SubtractSaturating(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return b < 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min() + 1;
}

// Numbers only: what may be missing (store/maybe.h) is asked for first.
template <typename A, typename B>
  requires(!std::is_arithmetic_v<A> || !std::is_arithmetic_v<B>)
int64_t AddSaturating(A, B) = delete;
template <typename A, typename B>
  requires(!std::is_arithmetic_v<A> || !std::is_arithmetic_v<B>)
int64_t SubtractSaturating(A, B) = delete;

}  // namespace steplens
