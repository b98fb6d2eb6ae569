#pragma once

#include <span>
#include <string>

#include "analysis/cluster/answer.h"
#include "cluster/output.h"

namespace steplens::cluster {

// The table of that name among the answers; nullptr if no recipe made it.
const table::Table* FindTable(std::span<const Export> exports, std::string_view name);

// What the summary recipe found, on less than a screen: the job in two lines, then each finding
// with what it costs, why and what to do. Empty if the recipe did not run.
std::string SummaryText(std::span<const Export> exports, analysis::Language language);

}  // namespace steplens::cluster
