#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "table/table.h"

namespace steplens::analysis::cluster {

// Count, mean, standard deviation and quantiles of durations; parts merge in any order to the same
// result. Up to kExactLimit values quantiles are exact; beyond, within 0.25 %.
class Spread {
 public:
  static constexpr size_t kExactLimit = 65536;

  void Add(int64_t dur_ns, int64_t rank = 0);
  void Merge(const Spread& other);
  // Who holds min and max: the smallest rank that reaches it.
  void SetRank(int64_t rank) { min_rank_ = max_rank_ = rank; }

  int64_t count() const { return count_; }
  int64_t sum_ns() const { return sum_; }
  int64_t min_ns() const { return min_; }
  int64_t max_ns() const { return max_; }
  int64_t min_rank() const { return min_rank_; }
  int64_t max_rank() const { return max_rank_; }
  double mean_ns() const;
  double sample_std_ns() const;      // n - 1; NaN for one value
  double population_std_ns() const;  // n
  // Linear interpolation at position (count - 1) * q.
  double Quantile(double q) const;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(count_, sum_, squares_high_, squares_low_, min_, max_, min_rank_, max_rank_, values_,
            bins_);
  }

 private:
  using Wide = unsigned __int128;
  Wide squares() const { return (static_cast<Wide>(squares_high_) << 64) | squares_low_; }
  void SetSquares(Wide value) {
    squares_high_ = static_cast<uint64_t>(value >> 64);
    squares_low_ = static_cast<uint64_t>(value);
  }
  double SquaredDeviations() const;
  double ValueAt(int64_t index) const;
  void Coarsen();

  int64_t count_ = 0;
  int64_t sum_ = 0;
  uint64_t squares_high_ = 0;  // exact sum of squares, in 128 bits
  uint64_t squares_low_ = 0;
  int64_t min_ = std::numeric_limits<int64_t>::max();
  int64_t max_ = std::numeric_limits<int64_t>::min();
  int64_t min_rank_ = 0;
  int64_t max_rank_ = 0;
  std::vector<int64_t> values_;      // all of them, up to the limit, in any order
  std::map<int32_t, int64_t> bins_;  // beyond it: logarithm of the value -> how many
};

// The columns Count, MeanNs, StdNs, MinNs, Q1Ns, MedianNs, Q3Ns, MaxNs, SumNs, in this order.
class SpreadColumns {
 public:
  // Adds the columns to the table.
  explicit SpreadColumns(table::Table& table);
  void Append(const Spread& spread);

 private:
  table::Table& table_;
  size_t first_;
};

}  // namespace steplens::analysis::cluster
