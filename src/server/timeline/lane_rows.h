#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/saturate.h"
#include "base/string_pool.h"
#include "server/timeline/packed_times.h"

namespace steplens::server {

// The columns that slices are read from: a rank's store, or a lane that was derived. A slice is
// named by its number in them. Views; the owner outlives every lane made of them.
struct SliceColumns {
  std::span<const int64_t> begin_ns;
  std::span<const int64_t> dur_ns;      // never negative
  std::span<const StringId> name;       // of the owner's pool
  std::span<const uint32_t> name_id;    // by StringId: the number of the text in the data set
  const PackedTimes* packed = nullptr;  // if set, in place of begin_ns and dur_ns

  size_t size() const { return name.size(); }
  int64_t begin(size_t slice) const {
    return packed == nullptr ? begin_ns[slice] : packed->begin(slice);
  }
  int64_t dur(size_t slice) const { return packed == nullptr ? dur_ns[slice] : packed->dur(slice); }
  int64_t end(size_t slice) const { return AddSaturating(begin(slice), dur(slice)); }
  uint32_t name_of(uint32_t slice) const { return name_id[static_cast<size_t>(name[slice])]; }
};

// The time that [begin_ns, end_ns) and [t0_ns, t1_ns) share.
inline int64_t SharedNs(int64_t begin_ns, int64_t end_ns, int64_t t0_ns, int64_t t1_ns) {
  const int64_t from_ns = begin_ns > t0_ns ? begin_ns : t0_ns;
  const int64_t to_ns = end_ns < t1_ns ? end_ns : t1_ns;
  return to_ns > from_ns ? SubtractSaturating(to_ns, from_ns) : 0;
}

// The slices of one lane stacked in rows: sorted by (begin, number), each takes the first row whose
// last slice has ended. Slices of a row never overlap, so begins and ends ascend in it. Immutable;
// for any number of threads.
//
//   order:  | row 0: slice numbers by time | row 1 | ...        4 bytes a slice; none where the
//           slices are numbered by time and lie in one row
//   blocks: sum and longest of every 32 positions, and of every 32 blocks, for fast tiles
class LaneRows {
 public:
  static constexpr size_t kBlock = 32;

  LaneRows() = default;
  // `slices` in any order, each once.
  LaneRows(const SliceColumns& columns, std::vector<uint32_t> slices);
  LaneRows(LaneRows&&) = default;
  LaneRows& operator=(LaneRows&&) = default;

  const SliceColumns& columns() const { return columns_; }
  size_t size() const { return order_.size(); }
  uint32_t slice_at(size_t i) const { return order_[i]; }  // row by row
  size_t rows() const { return first_.empty() ? 0 : first_.size() - 1; }
  std::span<const uint32_t> row(size_t r) const {
    return order_.subspan(first_[r], first_[r + 1] - first_[r]);
  }

  // Positions of row r that touch [t0_ns, t1_ns): those that end after t0 or begin at or after it,
  // and begin before t1.
  std::pair<size_t, size_t> Touching(size_t r, int64_t t0_ns, int64_t t1_ns) const;
  // Slices of all rows that do. O(rows log n).
  uint64_t CountTouching(int64_t t0_ns, int64_t t1_ns) const;
  // Positions of row r that lie inside [t0_ns, t1_ns]: begin at or after t0 and end at or before
  // t1.
  std::pair<size_t, size_t> Inside(size_t r, int64_t t0_ns, int64_t t1_ns) const;
  // Duration without the slices of the next row that lie inside; never negative.
  int64_t SelfNs(size_t r, uint32_t slice) const;
  // Position in row r of a slice; the size of the row if it is not there.
  size_t PositionOf(size_t r, uint32_t slice) const;
  // The row of a slice; rows() if it is not in the lane.
  size_t RowOf(uint32_t slice) const;

  // What a run of positions of a row, all of which begin before t_ns, adds up to.
  struct Stretch {
    size_t end = 0;      // position behind the last
    size_t longest = 0;  // position; the first of equals
    int64_t longest_ns = -1;
    int64_t sum_ns = 0;
  };
  // All positions of row r from `from` on that begin before t_ns. O(k / 1024 + 64).
  Stretch StartingBefore(size_t r, size_t from, int64_t t_ns) const;

  // Whether every slice of row r lies inside one of the row above: then it covers no time that
  // others do not.
  bool LiesInside(size_t r) const { return lies_inside_[r]; }

  // Bytes held, for the budget.
  size_t bytes() const;

 private:
  struct Block {
    int64_t sum_ns = 0;
    int64_t longest_ns = -1;
    uint32_t longest = 0;  // position in the row
  };
  void Stack(const std::vector<uint32_t>& sorted);
  void BuildBlocks();
  void FindRowsInside();
  void Add(Stretch& stretch, std::span<const uint32_t> row) const;

  SliceColumns columns_;
  std::vector<uint32_t> own_order_;
  std::span<const uint32_t> order_;    // of own_order_, or of the numbers that all lanes share
  std::vector<uint32_t> first_;        // row r is order[first[r], first[r + 1])
  std::vector<Block> blocks_;          // whole blocks of each row, rows one after the other
  std::vector<Block> super_blocks_;    // of kBlock blocks
  std::vector<uint32_t> first_block_;  // by row
  std::vector<uint32_t> first_super_;  // by row
  std::vector<bool> lies_inside_;      // by row
};

}  // namespace steplens::server
