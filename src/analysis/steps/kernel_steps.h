#pragma once

#include <cstdint>
#include <vector>

#include "store/trace_store.h"

namespace steplens::analysis {

// The Step Id of kernel_details for each kernel: the first step whose device range holds its start,
// both ends included; store::kNone outside of all steps.
std::vector<int64_t> KernelSteps(const store::TraceStore& store);

// Sets kernels.step to it, and leaves it as it is outside of all steps.
void FillKernelSteps(store::TraceStore& store);

}  // namespace steplens::analysis
