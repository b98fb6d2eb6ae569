#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/overlap/overlap.h"

namespace steplens::analysis {

// The union of a list of intervals, asked how much of other intervals it covers.
class Cover {
 public:
  Cover() = default;
  explicit Cover(std::vector<Interval> intervals);  // in any order; O(n log n)

  // The part of the interval that is covered. O(log n).
  int64_t Within(Interval interval) const;
  // Disjoint and ascending; intervals that touched are one.
  std::span<const Interval> runs() const& { return runs_; }
  std::span<const Interval> runs() const&& = delete;  // would outlive what it shows
  int64_t total_ns() const { return before_ns_.empty() ? 0 : before_ns_.back(); }

 private:
  int64_t CoveredBefore(int64_t ts_ns) const;
  std::vector<Interval> runs_;
  std::vector<int64_t> before_ns_;  // [i]: covered by the first i runs; one more than runs
};

// What of `a` lies outside `b`, disjoint and ascending. O(n + m).
std::vector<Interval> Subtract(std::span<const Interval> a, std::span<const Interval> b);

}  // namespace steplens::analysis
