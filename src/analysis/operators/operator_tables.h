#pragma once

#include "analysis/selection.h"
#include "store/trace_store.h"
#include "table/table.h"

namespace steplens::analysis {

// operator_details.csv computed from the timeline: Rank and the columns of the file, one row per
// host operator except ProfilerStep#, by rank and start. A step selects the operators that start in
// its host range. The AICore cells are empty where the input does not say the type of device tasks.
table::Table OperatorDetails(const store::Job& job, const Selection& selection);

// The same with Slice Id and Parent Slice Id (rows of `slices`) behind the rank and the Pass
// (forward, backward, recomputed, or empty: op_pass.h) at the end: the tree for queries.
table::Table OperatorTree(const store::Job& job, const Selection& selection);

// Host operators of each selected rank by name, by rank and host self time descending: Rank, Name,
// Count, Host Total, Host Self, Device Total, Device Self Duration(us). Totals count an operator
// inside one of the same name twice; selfs do not. `by_pass`: a row per name and Pass.
table::Table HostOpStatistics(const store::Job& job, const Selection& selection,
                              bool by_pass = false);

}  // namespace steplens::analysis
