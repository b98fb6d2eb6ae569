#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analysis/compare/compare_sheets.h"
#include "base/status.h"
#include "cli/compare_options.h"

namespace steplens::cli {

// Writes the sheets in each form that was asked for, and returns the paths. A form is written whole
// or not at all. `notes`: what a form could not hold, a sentence each. `make_report` gives the html
// page, and is called only if that was asked for.
Result<std::vector<std::string>> WriteSheets(
    const std::vector<analysis::compare::ResultSheet>& sheets, const CompareRequest& request,
    const std::function<std::string()>& make_report, std::vector<analysis::Message>& notes);

}  // namespace steplens::cli
