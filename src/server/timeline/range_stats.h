#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/thread_pool.h"
#include "server/timeline/lane_rows.h"

namespace steplens::server {

// A lane and the range asked for on the clock of its rank.
struct RangeLane {
  const LaneRows* rows = nullptr;
  int64_t t0_ns = 0;
  int64_t t1_ns = 0;
};

struct RangeOptions {
  size_t first_row = 0;
  size_t last_row = SIZE_MAX;  // inclusive
  // Whether slices count with the part inside the range; without it with their full durations, as
  // in the reference viewer.
  bool clip = false;
};

struct NameStats {
  uint32_t name = 0;  // number in the data set
  int64_t count = 0;
  int64_t wall_ns = 0;
  int64_t self_ns = 0;  // without what lies inside in the next row
  int64_t min_ns = INT64_MAX;
  int64_t max_ns = 0;
  int64_t p50_ns = 0;  // nearest ranks
  int64_t p90_ns = 0;
  int64_t p99_ns = 0;
};

// Durations by name of the slices that touch the ranges, edges included; by number of the name.
// `name_count` is larger than any number. O(n + name_count) on all threads of the pool; the result
// does not depend on how many there are.
std::vector<NameStats> ComputeRangeStats(const std::vector<RangeLane>& lanes,
                                         const RangeOptions& options, size_t name_count,
                                         ThreadPool& pool);

}  // namespace steplens::server
