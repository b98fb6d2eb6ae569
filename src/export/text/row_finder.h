#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

namespace steplens::exporting {

// Finds values in an ascending list, mostly one after the other: a look-up next to the last one
// costs two comparisons, any other a binary search. Keeps no copy of the list.
template <typename Value>
class RowFinder {
 public:
  static constexpr size_t kNotFound = std::numeric_limits<size_t>::max();

  // The place of the value in `rows`, which must be the same list each time.
  size_t Find(std::span<const Value> rows, Value value) {
    const bool is_after_last = next_ == 0 || rows[next_ - 1] < value;
    const bool is_near = is_after_last && (next_ == rows.size() || !(rows[next_] < value));
    if (!is_near) {
      next_ = static_cast<size_t>(std::lower_bound(rows.begin(), rows.end(), value) - rows.begin());
    }
    if (next_ == rows.size() || rows[next_] != value) return kNotFound;
    return next_++;
  }

 private:
  size_t next_ = 0;  // the first place that is not before the last value looked for
};

}  // namespace steplens::exporting
