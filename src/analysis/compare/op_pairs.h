#pragma once

#include <cstdint>
#include <vector>

#include "analysis/compare/match.h"
#include "analysis/compare/op_tree.h"
#include "analysis/compare/side.h"

namespace steplens::analysis::compare {

struct SideTree {
  const Side& side;
  const OpTree& tree;
};

// The operators of both sides that stand for each other, as nodes of their trees; from the top, and
// where an operator has more kernels than the limit by what it calls.
std::vector<Pair> MatchOperators(const SideTree& base, const SideTree& comparison,
                                 const SheetOptions& options);

}  // namespace steplens::analysis::compare
