#pragma once

#include <cstdint>
#include <limits>

namespace steplens::analysis {

// A range of time in epoch ns. A slice belongs to it if it touches it, with its full duration: the
// rule of the reference viewer.
struct TimeRange {
  int64_t begin_ns = std::numeric_limits<int64_t>::min();
  int64_t end_ns = std::numeric_limits<int64_t>::max();
  bool Touches(int64_t from_ns, int64_t to_ns) const {
    return to_ns >= begin_ns && from_ns <= end_ns;
  }
  bool Holds(int64_t from_ns, int64_t to_ns) const {
    return from_ns >= begin_ns && to_ns <= end_ns;
  }
  bool is_all() const {
    return begin_ns == std::numeric_limits<int64_t>::min() &&
           end_ns == std::numeric_limits<int64_t>::max();
  }
};

}  // namespace steplens::analysis
