#pragma once

#include "analysis/compare/side.h"

namespace steplens::analysis::compare {

// Fills launches and events of a side, and links its operators to what they launched.
//
// Every task of the device that an arrow or a correlation leads to belongs to the innermost
// operator of its thread that was under way. Under compat an operator owns what was launched at the
// very time it starts, on whatever thread, and of a db only kernels.
void CollectLaunches(Side& side, const SheetOptions& options);

}  // namespace steplens::analysis::compare
