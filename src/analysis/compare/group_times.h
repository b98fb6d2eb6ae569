#pragma once

#include <span>
#include <vector>

#include "analysis/compare/overall.h"
#include "analysis/overlap/overlap.h"

namespace steplens::analysis::compare {

// Fills groups, overlaps and wait_ns of an Ascend side. `uncovered`: where nothing but
// communication ran, disjoint and ascending.
//
// A group waits while one of its tasks waits for another rank, inside of its collectives. The
// reference looks at one plane alone, that which waits least.
void MeasureGroups(const Side& side, const SheetOptions& options,
                   std::span<const Interval> uncovered, Overall& overall);

}  // namespace steplens::analysis::compare
