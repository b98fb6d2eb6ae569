#include "analysis/operators/flops.h"

#include <algorithm>
#include <array>

#include "analysis/communication/element_size.h"
#include "base/number.h"
#include "store/unknown.h"

namespace steplens::analysis {
namespace {

using Shape = OpInputs::Shape;

constexpr size_t kAbsent = std::numeric_limits<size_t>::max();

// Arguments of an operator, by position.
class Arguments {
 public:
  explicit Arguments(const OpInputs& inputs) : inputs_(inputs) {}

  const Shape& shape(size_t i) const {
    static const Shape kNoShape;
    return i < inputs_.shapes.size() ? inputs_.shapes[i] : kNoShape;
  }
  double elements(size_t i) const {
    return shape(i).empty() ? 0 : ProductOf(shape(i), 0, shape(i).size());
  }
  // Of one element; NaN if its type is not known.
  double element_bytes(size_t i) const {
    const int64_t size = i < inputs_.types.size() ? ElementSize(inputs_.types[i]) : store::kNone;
    return size == store::kNone ? std::numeric_limits<double>::quiet_NaN()
                                : static_cast<double>(size);
  }
  double bytes(size_t i) const { return shape(i).empty() ? 0 : elements(i) * element_bytes(i); }

  bool has_values() const { return !inputs_.values.empty(); }
  std::string_view value(size_t i) const {
    return i < inputs_.values.size() ? inputs_.values[i] : std::string_view();
  }
  // The numbers of "[2, 2]" or "1"; nothing if there are none.
  std::vector<int64_t> numbers(size_t i) const {
    std::vector<int64_t> out;
    std::string_view text = value(i);
    while (!text.empty()) {
      const size_t begin = text.find_first_of("0123456789");
      if (begin == std::string_view::npos) break;
      text.remove_prefix(begin);
      const size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
      out.push_back(ParseInt64(text.substr(0, end)).value_or(0));
      text.remove_prefix(end);
    }
    return out;
  }

  static double ProductOf(const Shape& shape, size_t first, size_t last) {
    double product = 1;
    for (size_t i = first; i < last; ++i) product *= static_cast<double>(shape[i]);
    return product;
  }

 private:
  const OpInputs& inputs_;
};

using Cost = std::optional<OpCost>;

double Dimension(const Shape& shape, size_t i) { return static_cast<double>(shape[i]); }

// Elements of the batch dimensions of two tensors, broadcast; nothing if they do not fit.
std::optional<double> BroadcastBatch(const Shape& a, size_t a_dims, const Shape& b, size_t b_dims) {
  double batch = 1;
  for (size_t i = 1; i <= std::max(a_dims, b_dims); ++i) {
    const int64_t from_a = i <= a_dims ? a[a_dims - i] : 1;
    const int64_t from_b = i <= b_dims ? b[b_dims - i] : 1;
    if (from_a != from_b && from_a != 1 && from_b != 1) return std::nullopt;
    batch *= static_cast<double>(from_a == 1 ? from_b : from_a);
  }
  return batch;
}

// [..., m, k] x [..., k, n], also with vectors; `added` is a tensor that is added to the result.
Cost MatrixProduct(const Arguments& args, size_t left, size_t right, size_t added = kAbsent) {
  const Shape& a = args.shape(left);
  const Shape& b = args.shape(right);
  if (a.empty() || b.empty()) return std::nullopt;
  const double m = a.size() > 1 ? Dimension(a, a.size() - 2) : 1;
  const double n = b.size() > 1 ? Dimension(b, b.size() - 1) : 1;
  const int64_t k = a.back();
  if (k != (b.size() > 1 ? b[b.size() - 2] : b[0])) return std::nullopt;
  const auto dims = [](const Shape& shape) { return shape.size() > 2 ? shape.size() - 2 : 0; };
  const auto batch = BroadcastBatch(a, dims(a), b, dims(b));
  if (!batch) return std::nullopt;
  const double output = *batch * m * n;
  double bytes = args.bytes(left) + args.bytes(right) + output * args.element_bytes(left);
  if (added != kAbsent) bytes += args.bytes(added);
  return OpCost{2 * output * static_cast<double>(k), bytes};
}

Cost Mm(const Arguments& args) { return MatrixProduct(args, 0, 1); }
Cost Addmm(const Arguments& args) { return MatrixProduct(args, 1, 2, 0); }

// input [..., k], weight [n, k], bias.
Cost Linear(const Arguments& args) {
  const Shape& weight = args.shape(1);
  if (args.shape(0).empty() || weight.size() != 2 || args.shape(0).back() != weight[1])
    return std::nullopt;
  if (weight[1] == 0) return std::nullopt;
  const double rows = args.elements(0) / Dimension(weight, 1);
  const double output = rows * Dimension(weight, 0);
  return OpCost{2 * output * Dimension(weight, 1),
                args.bytes(0) + args.bytes(1) + args.bytes(2) + output * args.element_bytes(0)};
}

// Where a convolution has its settings.
struct ConvolutionPlaces {
  size_t stride;
  size_t padding;
  size_t dilation;
  size_t transposed = kAbsent;
};

// Numbers that convolutions are not made of, and whose products would not fit.
bool HasAbsurd(const std::vector<int64_t>& numbers) {
  constexpr int64_t kMost = int64_t{1} << 30;
  return std::any_of(numbers.begin(), numbers.end(),
                     [](int64_t number) { return number < 0 || number > kMost; });
}

// A list for each of `dims` dimensions, of which one number may stand for all.
std::optional<std::vector<int64_t>> SettingOf(const Arguments& args, size_t place, size_t dims,
                                              int64_t otherwise) {
  if (place == kAbsent) return std::vector<int64_t>(dims, otherwise);
  std::vector<int64_t> numbers = args.numbers(place);
  if (numbers.size() == 1) numbers.resize(dims, numbers.front());
  if (numbers.size() != dims || HasAbsurd(numbers)) return std::nullopt;
  return numbers;
}

// What each pair of an output (transposed: input) pixel and a weight costs: 2 FLOPs for each of a
// weight's elements.
double ConvolutionFlops(const Shape& pixels, const Shape& weight) {
  return 2 * Dimension(pixels, 0) * Arguments::ProductOf(pixels, 2, pixels.size()) *
         Arguments::ProductOf(weight, 0, weight.size());
}

// input [N, C, ...], weight [K, C / groups, ...] (transposed: [C, K / groups, ...]).
Cost Convolution(const Arguments& args, const ConvolutionPlaces& places) {
  const Shape& input = args.shape(0);
  const Shape& weight = args.shape(1);
  if (input.size() < 3 || weight.size() != input.size() || !args.has_values()) return std::nullopt;
  if (HasAbsurd(input) || HasAbsurd(weight)) return std::nullopt;
  const size_t dims = input.size() - 2;
  const auto stride = SettingOf(args, places.stride, dims, 1);
  const auto padding = SettingOf(args, places.padding, dims, 0);
  const auto dilation = SettingOf(args, places.dilation, dims, 1);
  if (!stride || !padding || !dilation) return std::nullopt;
  const bool is_transposed = args.value(places.transposed) == "True";
  Shape output = input;
  output[1] = is_transposed ? weight[1] : weight[0];
  for (size_t i = 0; i < dims; ++i) {
    const int64_t reach = (*dilation)[i] * (weight[i + 2] - 1) + 1;
    if ((*stride)[i] <= 0) return std::nullopt;
    output[i + 2] = is_transposed ? (input[i + 2] - 1) * (*stride)[i] - 2 * (*padding)[i] + reach
                                  : (input[i + 2] + 2 * (*padding)[i] - reach) / (*stride)[i] + 1;
    if (output[i + 2] <= 0) return std::nullopt;
  }
  const double output_bytes =
      Arguments::ProductOf(output, 0, output.size()) * args.element_bytes(0);
  return OpCost{ConvolutionFlops(is_transposed ? input : output, weight),
                args.bytes(0) + args.bytes(1) + output_bytes};
}

Cost Conv(const Arguments& args) { return Convolution(args, {3, 4, 5}); }
Cost ConvFull(const Arguments& args) { return Convolution(args, {3, 4, 5, 6}); }
Cost ConvCudnn(const Arguments& args) { return Convolution(args, {3, 2, 4}); }
Cost ConvMiopen(const Arguments& args) { return Convolution(args, {4, 3, 5}); }
Cost ConvSlow(const Arguments& args) { return Convolution(args, {4, 5, kAbsent}); }
Cost ConvDepthwise(const Arguments& args) { return Convolution(args, {4, 5, 6}); }

// grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding,
// groups, output_mask: as much as the forward pass for each gradient that is wanted.
Cost ConvBackward(const Arguments& args) {
  const Shape& grad = args.shape(0);
  const Shape& weight = args.shape(2);
  if (grad.size() < 3 || weight.size() != grad.size() || args.shape(1).size() != grad.size())
    return std::nullopt;
  const bool is_transposed = args.value(7) == "True";
  const std::string_view mask = args.value(10);  // "[True, True, False]": input, weight, bias
  const bool wants_input = !mask.starts_with("[False");
  const size_t comma = mask.find(", ");
  const bool wants_weight =
      comma == std::string_view::npos || !mask.substr(comma + 2).starts_with("False");
  const double one = ConvolutionFlops(is_transposed ? args.shape(1) : grad, weight);
  return OpCost{
      one * (wants_input + wants_weight),
      args.bytes(0) + args.bytes(1) * (1 + wants_input) + args.bytes(2) * (1 + wants_weight)};
}

// Attention: where the query is (key and value follow), whether heads come before the sequence, and
// where the lengths of packed sequences would be.
struct AttentionPlaces {
  size_t query;
  bool heads_first;
  size_t lengths = kAbsent;
};

// Two products in the forward pass; in the backward pass the first of them again, and two each for
// the gradients of the scores and of query, key and value: five.
Cost Attention(const Arguments& args, const AttentionPlaces& places, bool is_backward) {
  const Shape& q = args.shape(places.query);
  const Shape& k = args.shape(places.query + 1);
  const Shape& v = args.shape(places.query + 2);
  if (q.size() != 4 || k.size() != 4 || v.size() != 4) return std::nullopt;
  if (places.lengths != kAbsent && !args.shape(places.lengths).empty()) return std::nullopt;
  const size_t sequence = places.heads_first ? 2 : 1;
  const double heads = Dimension(q, places.heads_first ? 1 : 2);
  const double rows = Dimension(q, 0) * heads * Dimension(q, sequence);
  const double pairs = rows * Dimension(k, sequence);
  const double depth = Dimension(q, 3);
  const double value_depth = Dimension(v, 3);
  const double inputs =
      args.bytes(places.query) + args.bytes(places.query + 1) + args.bytes(places.query + 2);
  const double output = rows * value_depth * args.element_bytes(places.query);
  if (!is_backward) return OpCost{2 * pairs * (depth + value_depth), inputs + output};
  return OpCost{2 * pairs * (3 * depth + 2 * value_depth), 2 * (inputs + output)};
}

Cost Sdpa(const Arguments& args) { return Attention(args, {0, true}, false); }
Cost SdpaBackward(const Arguments& args) { return Attention(args, {1, true}, true); }
Cost Flash(const Arguments& args) { return Attention(args, {0, false, 3}, false); }
Cost Efficient(const Arguments& args) { return Attention(args, {0, false, 4}, false); }
Cost FlashBackward(const Arguments& args) { return Attention(args, {1, false, 6}, true); }
Cost FlashLibrary(const Arguments& args) { return Attention(args, {0, false}, false); }
Cost FlashLibraryBackward(const Arguments& args) { return Attention(args, {1, false}, true); }

// Normalisation: so many FLOPs per element, and so many tensors of the input's size.
Cost Normalise(const Arguments& args, double flops_per_element, double tensors) {
  if (args.shape(0).empty()) return std::nullopt;
  return OpCost{args.elements(0) * flops_per_element, args.bytes(0) * tensors, false};
}

// Mean: add. Variance: subtract, square, add. Result: scale, weight, bias.
Cost Norm(const Arguments& args) { return Normalise(args, 7, 2); }
// Normalised input (2), gradient times weight, its two sums (3), result (4), gradients of weight
// and bias (3).
Cost NormBackward(const Arguments& args) { return Normalise(args, 13, 3); }
// Square, add, scale, weight.
Cost RmsNorm(const Arguments& args) { return Normalise(args, 4, 2); }
// As above without the mean: 1 + 1 + 2 + 3 + 2.
Cost RmsNormBackward(const Arguments& args) { return Normalise(args, 9, 3); }

struct Formula {
  std::string_view op;
  Cost (*cost)(const Arguments&);
};

constexpr std::array kFormulas = {
    Formula{"aten::mm", Mm},
    Formula{"aten::bmm", Mm},
    Formula{"aten::mv", Mm},
    Formula{"aten::matmul", Mm},
    Formula{"aten::_int_mm", Mm},
    Formula{"aten::_scaled_mm", Mm},
    Formula{"aten::addmm", Addmm},
    Formula{"aten::addmv", Addmm},
    Formula{"aten::baddbmm", Addmm},
    Formula{"aten::_addmm_activation", Addmm},
    Formula{"aten::linear", Linear},
    Formula{"aten::conv1d", Conv},
    Formula{"aten::conv2d", Conv},
    Formula{"aten::conv3d", Conv},
    Formula{"aten::convolution", ConvFull},
    Formula{"aten::_convolution", ConvFull},
    Formula{"aten::convolution_overrideable", ConvFull},
    Formula{"aten::cudnn_convolution", ConvCudnn},
    Formula{"aten::miopen_convolution", ConvMiopen},
    Formula{"aten::thnn_conv2d", ConvSlow},
    Formula{"aten::_slow_conv2d_forward", ConvSlow},
    Formula{"aten::_conv_depthwise2d", ConvDepthwise},
    Formula{"aten::convolution_backward", ConvBackward},
    Formula{"aten::scaled_dot_product_attention", Sdpa},
    Formula{"aten::_scaled_dot_product_flash_attention", Sdpa},
    Formula{"aten::_scaled_dot_product_efficient_attention", Sdpa},
    Formula{"aten::_scaled_dot_product_cudnn_attention", Sdpa},
    Formula{"aten::_scaled_dot_product_fused_attention_overrideable", Sdpa},
    Formula{"aten::_scaled_dot_product_flash_attention_backward", SdpaBackward},
    Formula{"aten::_scaled_dot_product_efficient_attention_backward", SdpaBackward},
    Formula{"aten::_scaled_dot_product_cudnn_attention_backward", SdpaBackward},
    Formula{"aten::_scaled_dot_product_fused_attention_overrideable_backward", SdpaBackward},
    Formula{"aten::_flash_attention_forward", Flash},
    Formula{"aten::_flash_attention_backward", FlashBackward},
    Formula{"aten::_efficient_attention_forward", Efficient},
    Formula{"aten::_efficient_attention_backward", FlashBackward},
    Formula{"flash_attn::_flash_attn_forward", FlashLibrary},
    Formula{"flash_attn::_flash_attn_backward", FlashLibraryBackward},
    Formula{"aten::native_layer_norm", Norm},
    Formula{"aten::native_group_norm", Norm},
    Formula{"aten::native_batch_norm", Norm},
    Formula{"aten::cudnn_batch_norm", Norm},
    Formula{"aten::miopen_batch_norm", Norm},
    Formula{"aten::native_layer_norm_backward", NormBackward},
    Formula{"aten::native_group_norm_backward", NormBackward},
    Formula{"aten::native_batch_norm_backward", NormBackward},
    Formula{"aten::cudnn_batch_norm_backward", NormBackward},
    Formula{"aten::miopen_batch_norm_backward", NormBackward},
    Formula{"aten::rms_norm", RmsNorm},
    Formula{"aten::_fused_rms_norm", RmsNorm},
    Formula{"aten::_fused_rms_norm_backward", RmsNormBackward},
};

const Formula* FindFormula(std::string_view op) {
  const auto found = std::find_if(kFormulas.begin(), kFormulas.end(),
                                  [op](const Formula& formula) { return formula.op == op; });
  return found == kFormulas.end() ? nullptr : &*found;
}

// '32,3;3'
std::vector<Shape> ParseAscendShapes(std::string_view text) {
  std::vector<Shape> shapes(text.empty() ? 0 : 1);
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(",;"), text.size());
    if (const auto number = ParseInt64(text.substr(0, end))) shapes.back().push_back(*number);
    if (end == text.size()) break;
    if (text[end] == ';') shapes.emplace_back();
    text.remove_prefix(end + 1);
  }
  return shapes;
}

// '[[32, 3], [3], []]'. A list of tensors, one level deeper, counts as no tensor.
std::vector<Shape> ParseKinetoShapes(std::string_view text) {
  std::vector<Shape> shapes;
  int depth = 0;
  bool is_list_of_tensors = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '[') {
      ++depth;
      if (depth == 2) shapes.emplace_back();
      if (depth == 2) is_list_of_tensors = false;
      if (depth == 3) is_list_of_tensors = true;
    } else if (c == ']') {
      if (--depth == 1 && is_list_of_tensors) shapes.back().clear();
    } else if (depth >= 2 && c >= '0' && c <= '9') {
      const size_t end = std::min(text.find_first_not_of("0123456789", i), text.size());
      shapes.back().push_back(ParseInt64(text.substr(i, end - i)).value_or(0));
      i = end - 1;
    }
  }
  return shapes;
}

// '["float", "Scalar"]' or 'FLOAT;FLOAT'
std::vector<std::string_view> ParseTexts(std::string_view text) {
  std::vector<std::string_view> out;
  if (text.starts_with('[')) {
    size_t begin = text.find('"');
    while (begin != std::string_view::npos) {
      const size_t end = text.find('"', begin + 1);
      if (end == std::string_view::npos) break;
      out.push_back(text.substr(begin + 1, end - begin - 1));
      begin = text.find('"', end + 1);
    }
    return out;
  }
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(';', begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

}  // namespace

OpInputs ParseOpInputs(std::string_view shapes, std::string_view types, std::string_view values) {
  return {shapes.starts_with('[') ? ParseKinetoShapes(shapes) : ParseAscendShapes(shapes),
          ParseTexts(types), ParseTexts(values)};
}

bool HasCostFormula(std::string_view op) { return FindFormula(op) != nullptr; }

std::optional<OpCost> CostOfOperator(std::string_view op, const OpInputs& inputs) {
  const Formula* const formula = FindFormula(op);
  return formula == nullptr ? std::nullopt : formula->cost(Arguments(inputs));
}

}  // namespace steplens::analysis
