#pragma once

#include <vector>

#include "store/trace_store.h"

namespace steplens::analysis {

// The Python call stack (frames innermost first, separated by ';') of the operator that launched
// each kernel, by row of kernels; empty where none is known. No stacks at all if no kernel has one.
std::vector<StringId> KernelStacks(const store::TraceStore& store);

}  // namespace steplens::analysis
