#pragma once

#include <cstdint>

#include "base/saturate.h"

namespace steplens::analysis {

// Sums of times that stop at the ends of int64 instead of overflowing: a damaged input may hold any
// number.
inline int64_t AddNs(int64_t a_ns, int64_t b_ns) { return AddSaturating(a_ns, b_ns); }

// The end of a slice, kernel or operation.
inline int64_t EndNs(int64_t begin_ns, int64_t dur_ns) { return AddNs(begin_ns, dur_ns); }

// Times a real capture can have: within 146 years of the epoch. The length between any two of them
// fits int64, so sweeps over plausible intervals need no further care.
inline constexpr int64_t kLatestNs = (int64_t{1} << 62) - 1;
inline bool IsPlausible(int64_t begin_ns, int64_t end_ns) {
  return begin_ns >= -kLatestNs && end_ns <= kLatestNs && begin_ns <= end_ns;
}

// Round half up, for averages of durations.
inline int64_t DivideNs(int64_t total_ns, int64_t count) {
  if (count <= 0) return 0;
  return total_ns / count + (total_ns % count * 2 >= count ? 1 : 0);
}

}  // namespace steplens::analysis
