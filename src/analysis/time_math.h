#pragma once

#include <concepts>
#include <cstdint>

#include "base/saturate.h"
#include "store/maybe.h"

namespace steplens::analysis {

// Sums of times that stop at the ends of int64 instead of overflowing: a damaged input may hold any
// number.
inline int64_t AddNs(int64_t a_ns, int64_t b_ns) { return AddSaturating(a_ns, b_ns); }

// Of what may be missing: it is asked for first.
template <typename A, typename B>
  requires store::HasMaybe<A, B>
int64_t AddNs(A, B) = delete;

// The end of a slice, kernel or operation.
inline int64_t EndNs(int64_t begin_ns, int64_t dur_ns) { return AddNs(begin_ns, dur_ns); }

// The same of what may be missing; not known if one of both is not.
inline store::MaybeInt EndNs(store::MaybeInt begin_ns, store::MaybeInt dur_ns) {
  const bool is_known = begin_ns.is_known() && dur_ns.is_known();
  return store::MaybeInt(is_known ? AddNs(begin_ns.value(), dur_ns.value()) : store::kNone);
}
template <typename A, typename B>
  requires(store::HasMaybe<A, B> && !std::same_as<A, B>)
int64_t EndNs(A, B) = delete;

// How long after the origin it was; not known if the time is not.
inline store::MaybeInt SinceNs(store::MaybeInt ns, int64_t origin_ns) {
  return store::MaybeInt(ns.is_known() ? SubtractSaturating(ns.value(), origin_ns) : store::kNone);
}

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
