#pragma once

#include <vector>

#include "analysis/advice/finding.h"
#include "table/table.h"

// Findings as tables: the only place where they become rows.

namespace steplens::analysis {

// ClusterFindings, in the order given; `step_ms` is what a step takes on most ranks.
table::Table ClusterFindingTable(const std::vector<Finding>& findings, double step_ms);

// `findings` of the page and of SQL, in the order given: each with its place on the timeline and
// its evidence. Times in _ns columns count from `origin_ns`; shares are of `step_us`.
table::Table FindingTable(const std::vector<Finding>& findings, double step_us, int64_t origin_ns);

}  // namespace steplens::analysis
