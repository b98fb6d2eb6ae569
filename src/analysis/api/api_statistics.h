#pragma once

#include <span>

#include "analysis/selection.h"
#include "store/trace_store.h"
#include "table/table.h"

namespace steplens::analysis {

struct ApiStatisticsOptions {
  Selection selection;    // a step holds the calls that start in its host range
  bool per_rank = false;  // a Rank column and a row per rank; otherwise rows span the ranks
};

// The columns of api_statistic.csv, Level to Variance (population, us^2), one row per (Level, API
// Name), by time descending, then by level and name. Levels: acl, node, runtime, model, hccl or
// communication by the layer of a CANN slice; runtime and driver for GPU captures. A rank without
// a timeline has the rows of its api_statistic.csv, which know no steps.
table::Table ApiStatistics(const store::Job& job, const ApiStatisticsOptions& options);
table::Table ApiStatistics(std::span<const store::TraceStore> ranks,
                           const ApiStatisticsOptions& options);

}  // namespace steplens::analysis
