#pragma once

#include <string>
#include <vector>

#include "analysis/compare/runs/gate_rule.h"
#include "analysis/compare/runs/noise.h"
#include "base/status.h"
#include "cli/command.h"
#include "table/table.h"

namespace steplens::cli {

// Whole runs against each other: what `compare` does with folders of many ranks, with baselines and
// with --fail-on, and `baseline check` always.

// --fail-on, --junit, --markdown, --noise-level, --least-change
std::vector<OptionSpec> RunComparisonOptions();

// The values of these options, checked.
Result<analysis::runs::NoiseOptions> NoiseOf(const Arguments& arguments);
Result<std::vector<analysis::runs::GateRule>> RulesOf(const Arguments& arguments);

// Whether any of these options was given, or `base` names a baseline.
bool AsksForRunComparison(const Arguments& arguments, const std::string& base);

// "baseline:NAME"
bool IsBaseline(const std::string& path);

// Whether both paths hold more than one rank, so that there are jobs to compare.
bool HaveManyRanks(const std::string& base, const std::string& path);

// Compares the run below `path` with `base`, a path or "baseline:NAME" of the folder
// `baseline_folder` (BaselineFolder). Prints the comparison to stdout and a line per breach to
// stderr, and writes the reports; `tables`, if given, gets all rows of what the console shows the
// first of (runs::ComparisonTables). The value is the exit code: 0, or 3 if the gate is breached;
// with
// --strict 2 if a rule matches nothing and 1 if one cannot be decided or a rank could not be read.
Result<int> CompareWholeRuns(const Arguments& arguments, const std::string& path,
                             const std::string& base, const std::string& baseline_folder,
                             std::vector<table::Table>* tables = nullptr);

// Exit codes of commands whose 3 is the gate: 2 for wrong usage, 130 if interrupted, else 1.
int GateExitCode(const Error& error);

}  // namespace steplens::cli
