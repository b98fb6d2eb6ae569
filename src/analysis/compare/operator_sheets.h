#pragma once

#include <vector>

#include "analysis/compare/op_pairs.h"
#include "analysis/compare/sheet.h"

namespace steplens::analysis::compare {

// A line per device event, as detail cells have them.
std::string EventLine(const Side& side, const DeviceEvent& event);

// OperatorCompareStatistic and OperatorCompare of operators that were matched.
ResultSheet OperatorStatisticSheet(const SideTree& base, const SideTree& comparison,
                                   const std::vector<Pair>& pairs, bool compat);
ResultSheet OperatorSheet(const SideTree& base, const SideTree& comparison,
                          const std::vector<Pair>& pairs, bool compat);

// MemoryCompareStatistic and MemoryCompare.
ResultSheet MemoryStatisticSheet(const SideTree& base, const SideTree& comparison,
                                 const std::vector<Pair>& pairs, bool compat);
ResultSheet MemorySheet(const SideTree& base, const SideTree& comparison,
                        const std::vector<Pair>& pairs, bool compat);

}  // namespace steplens::analysis::compare
