#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/overlap/overlap.h"
#include "store/trace_store.h"

namespace steplens::analysis {

// Why a device was free: us by cause, the keys of explain.h ("gap.host_bound", ...); "gap.short" is
// what was not looked at.
struct FreeCauses {
  std::map<std::string, double> cause_us;
  std::map<std::string, Interval> longest;  // of each cause, the gap with most of it
};

// Explains the longest of the gaps, as many as can be afforded: each costs a look at the slices of
// the thread that launched the task behind it.
FreeCauses FindFreeCauses(const store::Job& job, uint32_t rank_index, std::vector<Interval> gaps);

}  // namespace steplens::analysis
