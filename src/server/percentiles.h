#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace steplens::server {

// The smallest value that at least `percent` of all values do not exceed (nearest rank). Reorders
// the values; 0 for none.
inline int64_t Percentile(std::span<int64_t> values, size_t percent) {
  if (values.empty()) return 0;
  const size_t rank = (values.size() * percent + 99) / 100;
  const size_t at = rank == 0 ? 0 : rank - 1;
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(at), values.end());
  return values[at];
}

}  // namespace steplens::server
