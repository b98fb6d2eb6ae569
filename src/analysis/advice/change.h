#pragma once

#include <vector>

#include "analysis/advice/finding.h"
#include "analysis/whatif/edit.h"

namespace steplens::analysis {

// What a finding advises, as edits of the step graph on its ranks: a replay with them says what it
// saves. Empty where that cannot be said so.
std::vector<Edit> ChangeOf(const Finding& finding);

}  // namespace steplens::analysis
