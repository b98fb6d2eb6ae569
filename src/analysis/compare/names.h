#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare/match.h"

namespace steplens::analysis::compare {

// Whether a name is what the pattern says; '*' stands for any text.
bool MatchesPattern(std::string_view pattern, std::string_view name);

// MatchSequences of two lists of names.
std::vector<Pair> MatchNames(std::span<const std::string> base,
                             std::span<const std::string> comparison);

}  // namespace steplens::analysis::compare
