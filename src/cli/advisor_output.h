#pragma once

#include <set>
#include <string>
#include <vector>

#include "analysis/advice/advisor.h"
#include "base/status.h"

namespace steplens::cli {

// Writes mstt_advisor_<time>.html, .md and .json to the folder, .xlsx to log/ below it, and, where
// kernels could be tuned, operator_tuning_file_<time>.cfg. Runs of the same second get names of
// their own. The value has the paths.
Result<std::vector<std::string>> WriteAdvisorReports(const analysis::AdvisorReport& report,
                                                     const std::set<std::string>& formats,
                                                     analysis::Language language,
                                                     const std::string& folder);

}  // namespace steplens::cli
