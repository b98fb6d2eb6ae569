#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/timeline/lane_rows.h"
#include "server/timeline/tile.h"

namespace steplens::server {

// When at least one of several lanes was busy: the summary of a group or rank. The union is formed
// once and counted in buckets of a base level: coarse tiles add those up, exact to a sixteenth of a
// bucket; fine ones form the union of the few slices that touch them, exactly. Immutable.
class Summary {
 public:
  Summary() = default;
  // The lanes must outlive the summary.
  explicit Summary(std::vector<const LaneRows*> lanes);

  uint64_t slices() const { return slices_; }
  // Covered time of each bucket of a tile, kTileBuckets of them; empty if nothing is covered.
  std::vector<int64_t> Covered(const TileSpan& span) const;
  // Covered time of a range: exact where it is short, else to a base bucket at either end.
  int64_t CoveredNs(int64_t t0_ns, int64_t t1_ns) const;
  uint64_t CountTouching(int64_t t0_ns, int64_t t1_ns) const;  // slices
  size_t bytes() const {
    return shares_.capacity() * sizeof(uint16_t) + marks_.capacity() * sizeof(int64_t);
  }

 private:
  static constexpr size_t kStride = 64;
  void CountBase(size_t buckets);
  int64_t BeforeNs(int64_t t_ns) const;

  std::vector<const LaneRows*> lanes_;
  uint64_t slices_ = 0;
  int64_t base_begin_ns_ = 0;
  uint32_t base_level_ = 0;
  std::vector<uint16_t> shares_;  // of each bucket of the base level, what is covered: 65535 all
  std::vector<int64_t> marks_;    // covered time before every kStride-th of them
  int64_t total_ns_ = 0;
};

// Kind 2 of the tile format.
void AppendSummaryTile(std::string& out, const TileKey& key, const Summary& summary,
                       int64_t base_ns);

}  // namespace steplens::server
