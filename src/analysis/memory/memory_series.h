#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/time_range.h"
#include "base/status.h"
#include "store/trace_store.h"

namespace steplens::analysis {

// One line of the memory chart. Points in order of time.
struct MemorySeries {
  struct Point {
    int64_t ts_ns = 0;  // epoch
    int64_t bytes = 0;
  };
  std::string name;
  std::vector<Point> points;
};

enum class MemoryGrouping : uint8_t { kOverall, kStream, kComponent, kKind };
Result<MemoryGrouping> ParseMemoryGrouping(std::string_view name);

// The series of the grouping, in the order of the legend; those without points are left out. Where
// the samples have no totals (older Kineto traces) the allocated bytes are added up from the
// allocations, from 0 on; `is_derived` says so. By kind of tensor they always are; what the totals
// have beyond them is there since before the capture.
std::vector<MemorySeries> CollectMemorySeries(const store::TraceStore& store, MemoryGrouping by,
                                              bool& is_derived);

// Per column of `width` over the points' own time range: the lowest, the highest and the last
// point, in order of time, so that no peak is lost. All points if they are no more than that, or if
// width is 0.
std::vector<MemorySeries::Point> ReducePoints(const std::vector<MemorySeries::Point>& points,
                                              int64_t width);

// What the memory page counts its times from: the first sample, else the first allocation.
int64_t MemoryOriginNs(const store::TraceStore& store);

}  // namespace steplens::analysis
