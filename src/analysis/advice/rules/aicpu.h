#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "store/trace_store.h"

namespace steplens::analysis {

// A kernel on the AI CPU that could run elsewhere, or takes long.
struct AicpuKernel {
  uint32_t kernel = 0;
  std::string_view reason;
};

// In the order of the rows; the rules of the reference viewer.
std::vector<AicpuKernel> ListAicpuKernels(const store::TraceStore& store);

}  // namespace steplens::analysis
