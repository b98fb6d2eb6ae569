#pragma once

#include <string>
#include <vector>

#include "analysis/compare/compare_sheets.h"
#include "base/status.h"
#include "cli/compare_options.h"

namespace steplens::cli {

// Writes the sheets in each form that was asked for, and returns the paths. A form is written whole
// or not at all. `notes`: what a form could not hold, a sentence each.
Result<std::vector<std::string>> WriteSheets(
    const std::vector<analysis::compare::ResultSheet>& sheets, const CompareRequest& request,
    std::vector<std::string>& notes);

}  // namespace steplens::cli
