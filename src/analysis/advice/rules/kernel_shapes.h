#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace steplens::analysis {

// The axes of each tensor: "16,32;8" -> {{16, 32}, {8}}. Quotes around the whole are taken off; an
// axis that is no number is 0.
using TensorShapes = std::vector<std::vector<int64_t>>;
TensorShapes ParseShapes(std::string_view text);

// Bytes of tensors whose types stand in `types` ("DT_BF16;FLOAT"), the last one for those beyond.
// An unknown type counts two bytes per element.
double TensorBytes(const TensorShapes& shapes, std::string_view types);

}  // namespace steplens::analysis
