#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/timeline/lane_rows.h"
#include "server/timeline/tile.h"

namespace steplens::server {

// When at least one of several lanes was busy: the summary of a group or rank. The union is formed
// once, when it is first asked for, and counted in buckets of a base level: coarse tiles add those
// up, exact to a sixteenth of a bucket; fine ones form the union of the few slices that touch them,
// exactly. For any number of threads. Copies share what was counted.
class Summary {
 public:
  Summary() = default;
  // The lanes must outlive the summary.
  explicit Summary(std::vector<const LaneRows*> lanes);

  uint64_t slices() const { return slices_; }
  const std::vector<const LaneRows*>& lanes() const { return lanes_; }
  // Forms the union now, so that nobody has to wait for it later.
  void Prepare() const { base(); }
  // Covered time of each bucket of a tile, kTileBuckets of them; empty if nothing is covered.
  std::vector<int64_t> Covered(const TileSpan& span) const;
  // Covered time of a range: exact where it is short, else to a base bucket at either end.
  int64_t CoveredNs(int64_t t0_ns, int64_t t1_ns) const;
  uint64_t CountTouching(int64_t t0_ns, int64_t t1_ns) const;  // slices
  size_t bytes() const;                                        // 0 before the union is formed

 private:
  static constexpr size_t kStride = 64;
  // What is covered of each bucket of the base level.
  struct Base {
    int64_t begin_ns = 0;
    uint32_t level = 0;
    std::vector<uint16_t> shares;  // 65535 is all of the bucket
    std::vector<int64_t> marks;    // covered time before every kStride-th bucket
    int64_t total_ns = 0;

    int64_t BeforeNs(int64_t t_ns) const;
  };
  struct LazyBase {
    std::once_flag once;
    std::atomic<bool> is_counted = false;
    Base base;
  };
  const Base& base() const;
  Base Count() const;

  std::vector<const LaneRows*> lanes_;
  uint64_t slices_ = 0;
  // Shared by the summaries of the same lanes.
  std::shared_ptr<LazyBase> lazy_ = std::make_shared<LazyBase>();
};

// Kind 2 of the tile format. `with_waits` also covers the waits of streams; null if there are none.
void AppendSummaryTile(std::string& out, const TileKey& key, const Summary& summary,
                       const Summary* with_waits, int64_t base_ns);

}  // namespace steplens::server
