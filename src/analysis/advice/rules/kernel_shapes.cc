#include "analysis/advice/rules/kernel_shapes.h"

#include <algorithm>

#include "analysis/any_case.h"
#include "base/number.h"

namespace steplens::analysis {
namespace {

// Cuts off the part before the mark.
std::string_view TakePart(std::string_view& text, char mark) {
  const size_t end = std::min(text.find(mark), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

double BytesOfType(std::string_view type) {
  for (const std::string_view eight : {"int64", "uint64", "double", "float64", "complex64"}) {
    if (EqualsInAnyCase(type, eight)) return 8;
  }
  for (const std::string_view four : {"float", "float32", "int32", "uint32"}) {
    if (EqualsInAnyCase(type, four)) return 4;
  }
  for (const std::string_view one : {"int8", "uint8", "bool", "float8_e4m3fn", "float8_e5m2"}) {
    if (EqualsInAnyCase(type, one)) return 1;
  }
  return 2;
}

}  // namespace

TensorShapes ParseShapes(std::string_view text) {
  while (!text.empty() && text.front() == '"') text.remove_prefix(1);
  while (!text.empty() && text.back() == '"') text.remove_suffix(1);
  TensorShapes out;
  while (!text.empty()) {
    std::string_view tensor = TakePart(text, ';');
    std::vector<int64_t>& axes = out.emplace_back();
    while (!tensor.empty()) axes.push_back(ParseInt64(TakePart(tensor, ',')).value_or(0));
  }
  return out;
}

double TensorBytes(const TensorShapes& shapes, std::string_view types) {
  double bytes = 0;
  double each = 2;
  for (const std::vector<int64_t>& axes : shapes) {
    if (!types.empty()) each = BytesOfType(TakePart(types, ';'));
    double elements = axes.empty() ? 0 : 1;
    for (const int64_t axis : axes) elements *= static_cast<double>(axis);
    bytes += elements * each;
  }
  return bytes;
}

}  // namespace steplens::analysis
