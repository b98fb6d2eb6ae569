#pragma once

#include "analysis/compare/overall.h"

namespace steplens::analysis::compare {

// Divides the kernels of a side among the kinds of work: by the operator that launched them, else
// by their type or name.
void ClassifyKernels(const Side& side, const SheetOptions& options, Overall& overall);

// Copies of the host's or the device's memory that GPU traces name: they are no computing.
bool IsGpuCopyName(std::string_view lower);

}  // namespace steplens::analysis::compare
