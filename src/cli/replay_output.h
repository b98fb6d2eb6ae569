#pragma once

#include <cstdint>
#include <vector>

#include "analysis/whatif/whatif_answer.h"
#include "cli/command.h"
#include "table/table.h"

// What critical-path and whatif have in common.

namespace steplens::cli {

std::vector<OptionSpec> ReplayOptions(const std::vector<std::string>& tables);
// --top, checked.
Result<size_t> TopOf(const Arguments& arguments);

// For people: a line about the replay, then the tables. --json: one document with all tables.
// --csv: the table that --table names, or the first.
Status PrintReplay(const analysis::StepReplay& replay, const std::vector<table::Table>& tables,
                   const Arguments& arguments);

}  // namespace steplens::cli
