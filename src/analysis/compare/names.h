#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare/match.h"

namespace steplens::analysis::compare {

// MatchSequences of two lists of names.
std::vector<Pair> MatchNames(std::span<const std::string> base,
                             std::span<const std::string> comparison);

}  // namespace steplens::analysis::compare
