#pragma once

#include <string>

#include "analysis/cluster/answer.h"
#include "analysis/cluster/options.h"
#include "base/status.h"

namespace steplens::cluster {

// cluster_time_compare_summary: what cluster_time_summary left in
// <input>/cluster_analysis_output/cluster_analysis.db against the same of `base` (--bp). No rank is
// read. An error says which run is missing.
Result<analysis::cluster::Answer> CompareRuns(const std::string& input, const std::string& base,
                                              const analysis::cluster::Options& options);

}  // namespace steplens::cluster
