#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "server/timeline/lane_rows.h"

namespace steplens::server {

// Level L divides time into buckets of 2^L ns; tile i of it covers kTileBuckets buckets.
inline constexpr uint32_t kTileBuckets = 1024;
inline constexpr uint32_t kMaxLevel = 44;

enum class TileKind : uint8_t { kSlices = 1, kSummary, kCounter, kEmpty, kNotReady };

struct TileKey {
  uint32_t track = 0;
  uint32_t level = 0;
  uint32_t index = 0;
  // Whether the tile lies within 146 years of time 0.
  bool IsSane() const {
    return level <= kMaxLevel &&
           ((uint64_t{index} + 1) << (level + 10)) >> (level + 10) == uint64_t{index} + 1 &&
           (uint64_t{index} + 1) << (level + 10) <= uint64_t{1} << 62;
  }
};

// Where a tile lies on the clock of its rank.
struct TileSpan {
  int64_t begin_ns = 0;
  uint32_t level = 0;
  int64_t bucket_ns() const { return int64_t{1} << level; }
  int64_t edge_ns(size_t bucket) const;  // begin of a bucket
  int64_t end_ns() const { return edge_ns(kTileBuckets); }
};
// `base_ns` is the time on the rank's clock that is shown as 0.
TileSpan SpanOf(const TileKey& key, int64_t base_ns);

// A row's picture between two buckets. Every slice of the row that touches the tile is in exactly
// one run with its start (cnt), and covers the runs it touches (cov).
struct TileRun {
  uint16_t x0 = 0;
  uint16_t x1 = 0;     // exclusive, > x0
  uint32_t slice = 0;  // the longest that touches the run
  uint32_t count = 0;  // slices that begin in the run
  int64_t covered_ns = 0;
  bool is_pure = false;  // no other slice begins in it
};

// The runs of row r, by x0, disjoint. A bucket in which something begins is a run of its own,
// unless the one slice that begins there goes on: it is continued up to the next begin or its end.
// O(runs + slices / 1024).
std::vector<TileRun> ComputeRuns(const LaneRows& rows, size_t r, const TileSpan& span);

// The binary form of docs/api.md, "Tiles", appended to `out`. `flags_of(slice)` gives bits 2-4.
inline constexpr uint8_t kClippedLeft = 1;
inline constexpr uint8_t kClippedRight = 2;
inline constexpr uint8_t kHasFlow = 8;
inline constexpr uint16_t kTileHasShades = 1;  // flag of the tile: rows end with their shades
// `shades`, one byte a slice, are written if there are any.
void AppendSliceTile(std::string& out, const TileKey& key, const LaneRows& rows, int64_t base_ns,
                     const std::vector<bool>& has_flow, std::span<const uint8_t> shades = {});
// A tile without content: empty or not ready.
void AppendBareTile(std::string& out, const TileKey& key, TileKind kind);

// The pieces the other tile kinds are written with.
class TileWriter {
 public:
  // Writes the header.
  TileWriter(std::string& out, const TileKey& key, TileKind kind, uint16_t flags = 0);
  template <typename T>
  void Value(T value) {
    out_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  void Align() { out_.append((4 - (out_.size() - start_) % 4) % 4, '\0'); }
  void Finish();  // sets the length

 private:
  std::string& out_;
  size_t start_;
};

}  // namespace steplens::server
