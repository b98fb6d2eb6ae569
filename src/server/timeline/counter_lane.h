#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "server/timeline/tile.h"

namespace steplens::server {

// The samples of one counter series by time. Values are read from a column of the store: doubles,
// or integers times a scale (bytes shown as MB). Immutable.
class CounterLane {
 public:
  struct Values {
    std::span<const int64_t> ts_ns;
    std::span<const double> doubles;  // one of the two is filled
    std::span<const int64_t> ints;
    double scale = 1;
    double at(uint32_t row) const {
      return doubles.empty() ? static_cast<double>(ints[row]) * scale : doubles[row];
    }
  };

  CounterLane() = default;
  // `rows` are rows of the columns, in any order; equal times keep it.
  CounterLane(const Values& values, std::vector<uint32_t> rows);

  size_t size() const { return rows_.size(); }
  int64_t ts_ns(size_t position) const { return values_.ts_ns[rows_[position]]; }
  double value(size_t position) const { return values_.at(rows_[position]); }
  // The largest value that holds in [t0, t1); nothing if there is none.
  std::optional<double> Peak(int64_t t0_ns, int64_t t1_ns) const;
  // First position at or after a time.
  size_t LowerBound(int64_t t_ns) const;
  size_t bytes() const { return rows_.capacity() * sizeof(uint32_t); }

 private:
  Values values_;
  std::vector<uint32_t> rows_;
};

// Kind 3 of the tile format, one series: least, greatest and last value of each bucket with
// samples. The value that holds when the tile begins is a point of its own at x = 0, unless a
// sample is there.
void AppendCounterTile(std::string& out, const TileKey& key, const CounterLane& lane,
                       int64_t base_ns);

}  // namespace steplens::server
