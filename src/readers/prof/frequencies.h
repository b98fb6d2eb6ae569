#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "readers/prof/device_records.h"

namespace steplens::readers::prof {

// The frequency of AI cores over time.
class Frequencies {
 public:
  Frequencies(int64_t base_mhz, const std::vector<FrequencyPoint>& points)
      : base_mhz_(static_cast<double>(base_mhz)), points_(points) {
    for (const FrequencyPoint& point : points) is_usable_ &= point.mhz > 0;
  }
  double At(uint64_t time) const {
    if (!is_usable_) return base_mhz_;
    const auto after =
        std::upper_bound(points_.begin(), points_.end(), time,
                         [](uint64_t at, const FrequencyPoint& point) { return at < point.time; });
    return after == points_.begin() ? base_mhz_ : std::prev(after)->mhz;
  }

 private:
  double base_mhz_;
  const std::vector<FrequencyPoint>& points_;
  bool is_usable_ = true;
};

}  // namespace steplens::readers::prof
