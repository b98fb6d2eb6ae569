#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "store/trace_store.h"

namespace steplens::analysis {

// What `steplens info` says of one rank beside its RankInfo.
struct RankSummary {
  // slices, flows, kernels, comm_ops, allocations, memory_samples, counters: rows of the tables of
  // that name.
  std::vector<std::pair<std::string_view, size_t>> counts;
  std::vector<int64_t> steps;  // ascending, each once
  store::Extent extent;
};
RankSummary Summarise(const store::TraceStore& store);

}  // namespace steplens::analysis
