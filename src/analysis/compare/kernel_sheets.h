#pragma once

#include "analysis/compare/sheet.h"
#include "analysis/compare/side.h"

namespace steplens::analysis::compare {

// Kernels of one type and shape, or of one type and core.
struct KernelTotals {
  std::string kernel;
  std::string detail;  // shapes or core
  double total_us = 0;
  double max_us = 0;
  double min_us = 0;
  double avg_us = 0;
  int64_t count = 0;
};

// KernelCompare; types in the order in which they come first. kNotFound under compat for a step
// without kernels.
Result<std::vector<KernelTotals>> CollectKernels(const Side& side, const SheetOptions& options);
ResultSheet KernelSheet(const std::vector<KernelTotals>& base,
                        const std::vector<KernelTotals>& comparison, bool compat);

// KernelTypeCompare, the largest ratio first.
std::vector<KernelTotals> CollectKernelTypes(const Side& side, const SheetOptions& options);
ResultSheet KernelTypeSheet(const std::vector<KernelTotals>& base,
                            const std::vector<KernelTotals>& comparison);

}  // namespace steplens::analysis::compare
