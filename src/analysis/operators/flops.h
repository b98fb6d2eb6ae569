#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace steplens::analysis {

// What an operator was called with. Positions are those of its arguments.
struct OpInputs {
  using Shape = std::vector<int64_t>;
  std::vector<Shape> shapes;             // empty: no tensor, or one without dimensions
  std::vector<std::string_view> types;   // "float", "c10::BFloat16", "BF16"; may be shorter
  std::vector<std::string_view> values;  // "[1, 1]", "True"; may be shorter, or empty
};

// From the texts of store.host_ops, which must outlive the result: '[[32, 3], [3]]' and
// '["float", "Scalar"]' (Kineto), or '32,3;3' and 'FLOAT;FLOAT' (Ascend).
OpInputs ParseOpInputs(std::string_view shapes, std::string_view types, std::string_view values);

// The least that an operator has to do. A multiplication and an addition are 2 FLOPs. Every tensor
// is read or written once.
struct OpCost {
  double flops = 0;
  double bytes = std::numeric_limits<double>::quiet_NaN();  // NaN where a type is not known
  bool is_matrix = true;  // matrix units can do it, at their higher rate
};

// Whether the FLOPs of an operator can be known: matrix products, convolutions, attention and
// normalisation of PyTorch, forward and backward.
bool HasCostFormula(std::string_view op);

// Nothing for other operators, and where the inputs do not say enough (a convolution without its
// strides, attention over sequences of different lengths). Attention counts all pairs, as PyTorch's
// own counter does, whether or not a causal mask leaves half of them out.
std::optional<OpCost> CostOfOperator(std::string_view op, const OpInputs& inputs);

}  // namespace steplens::analysis
