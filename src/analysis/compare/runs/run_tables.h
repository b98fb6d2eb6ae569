#pragma once

#include <cstddef>
#include <vector>

#include "analysis/compare/runs/compare_runs.h"
#include "table/table.h"

namespace steplens::analysis::runs {

// A comparison for people and files. Times in ms, memory in MB; `%` is empty for what the base does
// not have.
//   RunOverview  the step, its parts, memory and jitter of the whole job
//   RunChanges   names: kernels, operators, modules, communication; clear changes first
//   RunRanks     ranks, or roles: a rank's own time, and its step, computing, communication and
//   free RunGroups    communication groups
std::vector<table::Table> ComparisonTables(const RunComparison& comparison, const RunSummary& base,
                                           const RunSummary& run);

// What a summary holds: a row per part and per name, with median and spread per step.
table::Table SummaryTable(const RunSummary& run);

}  // namespace steplens::analysis::runs
