#include "server/timeline/lane_rows.h"

#include <algorithm>
#include <limits>

namespace steplens::server {
namespace {

// The first row that is free at a time: a tree of the least last end among the rows below a node.
// Rows not opened yet are free since ever.
class FreeRows {
 public:
  // Takes the first row whose last end is at or before begin_ns until end_ns. O(log rows).
  uint32_t Take(int64_t begin_ns, int64_t end_ns) {
    if (least_[1] > begin_ns) Grow();
    size_t node = 1;
    while (node < leaves_) node = least_[2 * node] <= begin_ns ? 2 * node : 2 * node + 1;
    const auto row = static_cast<uint32_t>(node - leaves_);
    least_[node] = end_ns;
    for (node /= 2; node > 0; node /= 2)
      least_[node] = std::min(least_[2 * node], least_[2 * node + 1]);
    return row;
  }

 private:
  static constexpr int64_t kSinceEver = std::numeric_limits<int64_t>::min();

  void Grow() {
    std::vector<int64_t> larger(4 * leaves_, kSinceEver);
    std::copy_n(least_.begin() + static_cast<ptrdiff_t>(leaves_), leaves_,
                larger.begin() + static_cast<ptrdiff_t>(2 * leaves_));
    leaves_ *= 2;
    for (size_t node = leaves_ - 1; node > 0; --node)
      larger[node] = std::min(larger[2 * node], larger[2 * node + 1]);
    least_ = std::move(larger);
  }

  size_t leaves_ = 4;
  std::vector<int64_t> least_ = std::vector<int64_t>(8, kSinceEver);
};

// Whether they are 0, 1, 2, ...
bool IsAscending(const std::vector<uint32_t>& numbers) {
  uint32_t next = 0;
  return std::all_of(numbers.begin(), numbers.end(), [&](uint32_t one) { return one == next++; });
}

}  // namespace

LaneRows::LaneRows(const SliceColumns& columns, std::vector<uint32_t> slices) : columns_(columns) {
  const auto earlier = [&](uint32_t a, uint32_t b) {
    const int64_t begin_a = columns_.begin(a);
    const int64_t begin_b = columns_.begin(b);
    return begin_a != begin_b ? begin_a < begin_b : a < b;
  };
  if (!std::is_sorted(slices.begin(), slices.end(), earlier))
    std::sort(slices.begin(), slices.end(), earlier);
  Stack(slices);
  BuildBlocks();
  FindRowsInside();
}

void LaneRows::Stack(const std::vector<uint32_t>& sorted) {
  FreeRows free_rows;
  std::vector<uint32_t> row_of(sorted.size());
  first_.assign(1, 0);
  for (size_t i = 0; i < sorted.size(); ++i) {
    row_of[i] = free_rows.Take(columns_.begin(sorted[i]), columns_.end(sorted[i]));
    if (row_of[i] + 2 > first_.size()) first_.resize(row_of[i] + 2, 0);
    ++first_[row_of[i] + 1];
  }
  for (size_t r = 1; r < first_.size(); ++r) first_[r] += first_[r - 1];
  if (rows() == 1 && IsAscending(sorted)) {
    order_ = Ascending(sorted.size()).first(sorted.size());
    return;
  }
  std::vector<uint32_t> next(first_.begin(), first_.end());
  own_order_.resize(sorted.size());
  for (size_t i = 0; i < sorted.size(); ++i) own_order_[next[row_of[i]]++] = sorted[i];
  order_ = own_order_;
}

void LaneRows::BuildBlocks() {
  blocks_.reserve(size() / kBlock);
  super_blocks_.reserve(size() / kBlock / kBlock);
  for (size_t r = 0; r < rows(); ++r) {
    const auto slices = row(r);
    first_block_.push_back(static_cast<uint32_t>(blocks_.size()));
    first_super_.push_back(static_cast<uint32_t>(super_blocks_.size()));
    const size_t count = slices.size() / kBlock;
    for (size_t b = 0; b < count; ++b) {
      Block block;
      for (size_t p = b * kBlock; p < (b + 1) * kBlock; ++p) {
        const int64_t dur_ns = columns_.dur(slices[p]);
        block.sum_ns = AddSaturating(block.sum_ns, dur_ns);
        if (dur_ns > block.longest_ns) {
          block.longest_ns = dur_ns;
          block.longest = static_cast<uint32_t>(p);
        }
      }
      blocks_.push_back(block);
    }
    for (size_t s = 0; s < count / kBlock; ++s) {
      Block sum;
      for (size_t b = s * kBlock; b < (s + 1) * kBlock; ++b) {
        const Block& block = blocks_[first_block_.back() + b];
        sum.sum_ns = AddSaturating(sum.sum_ns, block.sum_ns);
        if (block.longest_ns > sum.longest_ns) {
          sum.longest_ns = block.longest_ns;
          sum.longest = block.longest;
        }
      }
      super_blocks_.push_back(sum);
    }
  }
}

void LaneRows::FindRowsInside() {
  lies_inside_.assign(rows(), false);
  for (size_t r = 1; r < rows(); ++r) {
    const auto above = row(r - 1);
    size_t at = 0;
    const auto is_inside = [&](uint32_t slice) {
      while (at + 1 < above.size() && columns_.begin(above[at + 1]) <= columns_.begin(slice)) ++at;
      return columns_.begin(above[at]) <= columns_.begin(slice) &&
             columns_.end(slice) <= columns_.end(above[at]);
    };
    const auto slices = row(r);
    lies_inside_[r] = std::all_of(slices.begin(), slices.end(), is_inside);
  }
}

std::pair<size_t, size_t> LaneRows::Touching(size_t r, int64_t t0_ns, int64_t t1_ns) const {
  const auto slices = row(r);
  const auto is_before = [&](uint32_t slice) {
    return columns_.end(slice) <= t0_ns && columns_.begin(slice) < t0_ns;
  };
  const auto lo = std::partition_point(slices.begin(), slices.end(), is_before);
  const auto hi = std::partition_point(
      lo, slices.end(), [&](uint32_t slice) { return columns_.begin(slice) < t1_ns; });
  return {static_cast<size_t>(lo - slices.begin()), static_cast<size_t>(hi - slices.begin())};
}

uint64_t LaneRows::CountTouching(int64_t t0_ns, int64_t t1_ns) const {
  uint64_t count = 0;
  for (size_t r = 0; r < rows(); ++r) {
    const auto [lo, hi] = Touching(r, t0_ns, t1_ns);
    count += hi - lo;
  }
  return count;
}

std::pair<size_t, size_t> LaneRows::Inside(size_t r, int64_t t0_ns, int64_t t1_ns) const {
  const auto slices = row(r);
  const auto lo = std::partition_point(
      slices.begin(), slices.end(), [&](uint32_t slice) { return columns_.begin(slice) < t0_ns; });
  const auto hi = std::partition_point(
      lo, slices.end(), [&](uint32_t slice) { return columns_.end(slice) <= t1_ns; });
  return {static_cast<size_t>(lo - slices.begin()), static_cast<size_t>(hi - slices.begin())};
}

int64_t LaneRows::SelfNs(size_t r, uint32_t slice) const {
  int64_t self_ns = columns_.dur(slice);
  if (r + 1 >= rows()) return self_ns;
  const auto [lo, hi] = Inside(r + 1, columns_.begin(slice), columns_.end(slice));
  for (const uint32_t child : row(r + 1).subspan(lo, hi - lo))
    self_ns = SubtractSaturating(self_ns, columns_.dur(child));
  return std::max<int64_t>(0, self_ns);
}

size_t LaneRows::PositionOf(size_t r, uint32_t slice) const {
  const auto slices = row(r);
  const int64_t begin_ns = columns_.begin(slice);
  auto at = std::partition_point(slices.begin(), slices.end(),
                                 [&](uint32_t other) { return columns_.begin(other) < begin_ns; });
  for (; at != slices.end() && columns_.begin(*at) == begin_ns; ++at) {
    if (*at == slice) return static_cast<size_t>(at - slices.begin());
  }
  return slices.size();
}

size_t LaneRows::RowOf(uint32_t slice) const {
  for (size_t r = 0; r < rows(); ++r) {
    if (PositionOf(r, slice) < row(r).size()) return r;
  }
  return rows();
}

void LaneRows::Add(Stretch& stretch, std::span<const uint32_t> row) const {
  const int64_t dur_ns = columns_.dur(row[stretch.end]);
  stretch.sum_ns = AddSaturating(stretch.sum_ns, dur_ns);
  if (dur_ns > stretch.longest_ns) {
    stretch.longest_ns = dur_ns;
    stretch.longest = stretch.end;
  }
  ++stretch.end;
}

LaneRows::Stretch LaneRows::StartingBefore(size_t r, size_t from, int64_t t_ns) const {
  const auto slices = row(r);
  Stretch out;
  out.end = from;
  const auto starts_before = [&](size_t position) {
    return columns_.begin(slices[position]) < t_ns;
  };
  const auto take = [&](const Block& block, size_t length) {
    out.sum_ns = AddSaturating(out.sum_ns, block.sum_ns);
    if (block.longest_ns > out.longest_ns) {
      out.longest_ns = block.longest_ns;
      out.longest = block.longest;
    }
    out.end += length;
  };
  constexpr size_t kSuper = kBlock * kBlock;
  while (out.end < slices.size() && starts_before(out.end)) {
    if (out.end % kBlock == 0) {
      if (out.end % kSuper == 0 && out.end + kSuper <= slices.size() &&
          starts_before(out.end + kSuper - 1)) {
        take(super_blocks_[first_super_[r] + out.end / kSuper], kSuper);
        continue;
      }
      if (out.end + kBlock <= slices.size() && starts_before(out.end + kBlock - 1)) {
        take(blocks_[first_block_[r] + out.end / kBlock], kBlock);
        continue;
      }
    }
    Add(out, slices);
  }
  return out;
}

size_t LaneRows::bytes() const {
  return own_order_.capacity() * sizeof(uint32_t) +
         (first_.capacity() + first_block_.capacity() + first_super_.capacity()) *
             sizeof(uint32_t) +
         (blocks_.capacity() + super_blocks_.capacity()) * sizeof(Block);
}

}  // namespace steplens::server
