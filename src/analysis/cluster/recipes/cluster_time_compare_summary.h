#pragma once

#include "analysis/cluster/answer.h"
#include "analysis/cluster/options.h"
#include "base/status.h"
#include "table/table.h"

namespace steplens::analysis::cluster {

inline constexpr const char* kTimeCompareName = "cluster_time_compare_summary";

// The table ClusterTimeCompareSummary: for each rank and step of `current` its times, those of
// `base` and what they differ by (positive: the current run is slower). Both are ClusterTimeSummary
// tables of earlier runs. Rows without a counterpart are left out, and in compat mode those with an
// unknown time. It is an error if a table lacks a column or the step asked for.
Result<Answer> CompareTimeSummaries(const table::Table& current, const table::Table& base,
                                    const Options& options);

}  // namespace steplens::analysis::cluster
