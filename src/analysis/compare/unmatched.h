#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/compare/communication_sheet.h"
#include "analysis/compare/kernel_sheets.h"
#include "analysis/compare/module_sheets.h"
#include "analysis/compare/op_pairs.h"
#include "analysis/compare/sheet.h"

namespace steplens::analysis::compare {

// What one side has and nothing of the other stands for.
struct Unmatched {
  enum class Kind : uint8_t { kOperator, kModule, kCollective, kKernel };
  struct Sums {
    int64_t calls = 0;
    int64_t device_ns = 0;
  };
  Kind kind = Kind::kOperator;
  std::string name;
  Sums base{};  // of operators both sides may have calls that were left alone
  Sums comparison{};
};

// Operators that the alignment left alone; calls of one name are one row.
void AddUnmatchedOperators(const SideTree& base, const SideTree& comparison,
                           const std::vector<Pair>& pairs, std::vector<Unmatched>& rows);
// Modules, by path without the numbers of their calls.
void AddUnmatchedModules(const SideModules& base, const SideModules& comparison,
                         std::vector<Unmatched>& rows);
void AddUnmatchedCollectives(const std::vector<CollectiveTotals>& base,
                             const std::vector<CollectiveTotals>& comparison,
                             std::vector<Unmatched>& rows);
// Kernels by type and shapes.
void AddUnmatchedKernels(const std::vector<KernelTotals>& base,
                         const std::vector<KernelTotals>& comparison, std::vector<Unmatched>& rows);

// The sheet Unmatched: by kind, of each kind the longest first.
ResultSheet UnmatchedSheet(std::vector<Unmatched> rows);

}  // namespace steplens::analysis::compare
