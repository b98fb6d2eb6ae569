#pragma once

#include <cstdint>
#include <vector>

#include "export/single/memory_graph.h"

namespace steplens::exporting {

// What memory is for. The values are those of the files.
enum class MemoryCategory : uint8_t {
  kParameter = 0,
  kOptimizerState = 1,
  kInput = 2,
  kTemporary = 3,
  kActivation = 4,
  kGradient = 5,
  kAutogradDetail = 6,
  kUnknown = 7,
};
inline constexpr size_t kMemoryCategories = 8;

// The category of each block, in the order of the rules; the first that fits counts:
//   gradients and temporaries as the graph has them, then parameters
//   input        feeds a gradient, is not made in the backward pass, and depends on no gradient
//   parameter    feeds a gradient and depends on one (by its update), and no forward operator
//                makes it
//   activation   made by a forward operator of inputs, activations, parameters and temporaries
//   optimiser state as the graph has it
//   autograd     what else backward operators make
std::vector<MemoryCategory> CategoriseMemory(const MemoryGraph& graph);

}  // namespace steplens::exporting
