#pragma once

#include "store/trace_store.h"

namespace steplens::analysis {

// Sets kernels.step to the Step Id of kernel_details: the first step whose device range holds the
// start of the kernel, both ends included; left as it is outside of all steps.
void FillKernelSteps(store::TraceStore& store);

}  // namespace steplens::analysis
