#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "store/trace_store.h"

namespace steplens::analysis {

// What a block of memory is for, as far as the time tells at which it is allocated and released.
enum class TensorKind : uint8_t {
  kActivation,      // from before a backward pass, released while it runs
  kGradient,        // allocated by a backward pass, outlives it
  kOptimizerState,  // allocated by a step of the optimizer, outlives it
  kTemporary,       // released in the pass that allocated it
  kOther,           // inputs, outputs, weights that are allocated late
};
inline constexpr std::array<std::string_view, 5> kTensorKindNames = {
    "Activations", "Gradients", "Optimizer States", "Temporary", "Other"};

// One kind for each row of store.allocations; empty if the capture does not show backward passes
// (autograd's operators, or fwdbwd arrows).
std::vector<TensorKind> FindTensorKinds(const store::TraceStore& store);

}  // namespace steplens::analysis
