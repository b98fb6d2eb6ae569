#pragma once

#include <vector>

#include "analysis/overlap/overlap.h"
#include "store/trace_store.h"

namespace steplens::analysis::cluster {

// When any device of a rank computed, and when it computed or communicated. Sorted; intervals may
// overlap.
std::vector<Interval> ComputingTimes(const store::TraceStore& rank);
std::vector<Interval> BusyTimes(const store::TraceStore& rank);

// The same time as disjoint intervals that do not touch, sorted; empty ones are left out.
std::vector<Interval> UnionOf(std::vector<Interval> intervals);

}  // namespace steplens::analysis::cluster
