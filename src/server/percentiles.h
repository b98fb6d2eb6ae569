#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace steplens::server {

// Position of a percentile among sorted values (nearest rank).
inline size_t PercentileAt(size_t count, size_t percent) {
  const size_t rank = (count * percent + 99) / 100;
  return rank == 0 ? 0 : rank - 1;
}

// The smallest value that at least `percent` of all values do not exceed (nearest rank). Reorders
// the values; 0 for none.
inline int64_t Percentile(std::span<int64_t> values, size_t percent) {
  if (values.empty()) return 0;
  const size_t at = PercentileAt(values.size(), percent);
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(at), values.end());
  return values[at];
}

struct Percentiles {
  int64_t p50 = 0;
  int64_t p90 = 0;
  int64_t p99 = 0;
};
// All three, each from the part that the one below left: little more than the cost of one.
inline Percentiles PercentilesOf(std::span<int64_t> values) {
  if (values.empty()) return {};
  size_t from = 0;
  const auto select = [&](size_t percent) {
    const size_t at = PercentileAt(values.size(), percent);
    std::nth_element(values.begin() + static_cast<ptrdiff_t>(from),
                     values.begin() + static_cast<ptrdiff_t>(at), values.end());
    from = at;
    return values[at];
  };
  Percentiles out;
  out.p50 = select(50);
  out.p90 = select(90);
  out.p99 = select(99);
  return out;
}

}  // namespace steplens::server
