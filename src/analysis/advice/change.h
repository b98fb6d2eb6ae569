#pragma once

#include <vector>

#include "analysis/advice/finding.h"
#include "analysis/whatif/edit.h"

namespace steplens::analysis {

// What a finding advises, as edits of the step graph on its ranks: a replay with them says what it
// saves. Empty where that cannot be said so.
std::vector<Edit> ChangeOf(const Finding& finding);

// General findings (the host is late, communication is exposed) keep only what no finding that
// names a cause on the same ranks saves already; what is then less than `least_ms` is taken out.
void TakeExplained(double least_ms, std::vector<Finding>& findings);

}  // namespace steplens::analysis
