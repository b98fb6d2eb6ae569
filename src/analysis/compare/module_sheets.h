#pragma once

#include "analysis/compare/module_tree.h"
#include "analysis/compare/sheet.h"

namespace steplens::analysis::compare {

struct SideModules {
  const Side& side;
  const ModuleTree& tree;
};

// ModuleCompareStatistic: all calls of a module together.
ResultSheet ModuleStatisticSheet(const SideModules& base, const SideModules& comparison,
                                 const SheetOptions& options);
// ModuleCompare: call by call.
ResultSheet ModuleSheet(const SideModules& base, const SideModules& comparison,
                        const SheetOptions& options);

}  // namespace steplens::analysis::compare
