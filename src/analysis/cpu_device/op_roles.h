#pragma once

#include <cstdint>
#include <string_view>

namespace steplens::analysis {

// What an operator of a CPU does by itself, by its name alone: which operators are kernels must not
// depend on how long one took. In rising order.
enum class OpRole : uint8_t {
  kKeepsBooks,  // views, shapes, allocation, the engine's own ranges: an accelerator runs nothing
  kMoves,       // copies and fills
  kComputes,    // everything else
};

// `is_node`: a node of the backward graph. Nodes made from formulas ("AddBackward0") call operators
// for all that they do.
OpRole RoleOfOperator(std::string_view name, bool is_node);

}  // namespace steplens::analysis
