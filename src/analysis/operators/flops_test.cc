#include "analysis/operators/flops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace steplens::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

OpCost Cost(std::string_view op, std::string_view shapes, std::string_view types,
            std::string_view values = "") {
  const auto cost = CostOfOperator(op, ParseOpInputs(shapes, types, values));
  EXPECT_TRUE(cost.has_value()) << op;
  return cost.value_or(OpCost{-1, -1});
}

bool IsUnknown(std::string_view op, std::string_view shapes, std::string_view values = "") {
  return !CostOfOperator(op, ParseOpInputs(shapes, "", values)).has_value();
}

TEST(ParseOpInputs, ReadsTheListsOfKineto) {
  const OpInputs inputs =
      ParseOpInputs("[[32, 3], [], [[1, 2], [3]], [7]]",
                    R"(["float", "", "TensorList", "c10::Half"])", R"(["", "[1, 2]", "", "True"])");
  EXPECT_THAT(inputs.shapes, ElementsAre(ElementsAre(32, 3), IsEmpty(), IsEmpty(), ElementsAre(7)));
  EXPECT_THAT(inputs.types, ElementsAre("float", "", "TensorList", "c10::Half"));
  EXPECT_THAT(inputs.values, ElementsAre("", "[1, 2]", "", "True"));
}

TEST(ParseOpInputs, ReadsTheTextsOfAscend) {
  const OpInputs inputs = ParseOpInputs("32,3;3", "FLOAT;BF16", "");
  EXPECT_THAT(inputs.shapes, ElementsAre(ElementsAre(32, 3), ElementsAre(3)));
  EXPECT_THAT(inputs.types, ElementsAre("FLOAT", "BF16"));
}

TEST(ParseOpInputs, TakesDamagedTexts) {
  for (const char* text :
       {"", "[", "[[", "]]", "[[1", "[\"", "[[99999999999999999999]]", ";;", ","})
    ParseOpInputs(text, text, text);
}

// 2 * 2 * 3 * 4 = 48 FLOPs; (6 + 12 + 8) elements of 4 bytes.
TEST(CostOfOperator, MatrixProduct) {
  const OpCost cost = Cost("aten::mm", "[[2, 3], [3, 4]]", R"(["float", "float"])");
  EXPECT_EQ(cost.flops, 48);
  EXPECT_EQ(cost.bytes, 26 * 4);
  EXPECT_TRUE(cost.is_matrix);
  EXPECT_TRUE(IsUnknown("aten::mm", "[[2, 3], [5, 4]]"));
  EXPECT_TRUE(IsUnknown("aten::mm", "[[2, 3]]"));
}

TEST(CostOfOperator, MatrixProductWithAnAddedTensor) {
  const OpCost cost = Cost("aten::addmm", "[[4], [2, 3], [3, 4], [], []]",
                           R"(["c10::Half", "c10::Half", "c10::Half", "Scalar", "Scalar"])");
  EXPECT_EQ(cost.flops, 48);
  EXPECT_EQ(cost.bytes, (4 + 26) * 2);
}

// 5 products of the above.
TEST(CostOfOperator, BatchedMatrixProduct) {
  EXPECT_EQ(Cost("aten::bmm", "[[5, 2, 3], [5, 3, 4]]", "").flops, 240);
  EXPECT_EQ(Cost("aten::matmul", "[[5, 1, 2, 3], [6, 3, 4]]", "").flops, 30 * 48);
  EXPECT_EQ(Cost("aten::matmul", "[[3], [3, 4]]", "").flops, 24);
  EXPECT_EQ(Cost("aten::mv", "[[2, 3], [3]]", "").flops, 12);
  EXPECT_TRUE(IsUnknown("aten::bmm", "[[5, 2, 3], [4, 3, 4]]"));
}

TEST(CostOfOperator, BytesAreUnknownWithoutTypes) {
  EXPECT_TRUE(std::isnan(Cost("aten::mm", "[[2, 3], [3, 4]]", "").bytes));
}

// 10 rows of 3 values, each to 4: 2 * 10 * 3 * 4; input 30, weight 12, bias 4, output 40 elements.
TEST(CostOfOperator, Linear) {
  const OpCost cost = Cost("aten::linear", "[[2, 5, 3], [4, 3], [4]]",
                           R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16"])");
  EXPECT_EQ(cost.flops, 240);
  EXPECT_EQ(cost.bytes, (30 + 12 + 4 + 40) * 2);
}

// Output 8 x 16 x 5 x 5 ((9 + 2 - 3) / 2 + 1); each element 4 * 3 * 3 products of 2 FLOPs.
TEST(CostOfOperator, Convolution) {
  constexpr double kFlops = 8 * 16 * 25 * 36 * 2;
  constexpr double kBytes = (8 * 4 * 81 + 16 * 36 + 8 * 16 * 25) * 4;
  const char* const shapes = "[[8, 4, 9, 9], [16, 4, 3, 3], [], [], [], [], [], [], []]";
  const char* const types = R"(["float", "float"])";
  const OpCost cost = Cost("aten::convolution", shapes, types,
                           R"(["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"])");
  EXPECT_EQ(cost.flops, kFlops);
  EXPECT_EQ(cost.bytes, kBytes);
  EXPECT_EQ(Cost("aten::cudnn_convolution", shapes, types,
                 R"(["", "", "[1, 1]", "[2, 2]", "[1, 1]", "1"])")
                .flops,
            kFlops);
  EXPECT_EQ(Cost("aten::miopen_convolution", shapes, types,
                 R"(["", "", "", "[1, 1]", "[2, 2]", "[1, 1]", "1"])")
                .flops,
            kFlops);
  EXPECT_EQ(Cost("aten::conv2d", shapes, types, R"(["", "", "", "[2]", "[1]", "[1]", "1"])").flops,
            kFlops);
  // Without its strides the size of the output is not known; 'same' is not a number.
  EXPECT_TRUE(IsUnknown("aten::convolution", shapes));
  EXPECT_TRUE(
      IsUnknown("aten::conv2d", shapes, R"(["", "", "", "[2, 2]", "same", "[1, 1]", "1"])"));
  EXPECT_TRUE(IsUnknown("aten::conv2d", shapes, R"(["", "", "", "[0]", "[1]", "[1]", "1"])"));
}

// Transposed, every input element meets all weights of its channel: 16 * 3 * 3.
TEST(CostOfOperator, TransposedConvolution) {
  const OpCost cost =
      Cost("aten::convolution", "[[8, 4, 5, 5], [4, 16, 3, 3]]", R"(["float", "float"])",
           R"(["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "True", "[0, 0]", "1"])");
  EXPECT_EQ(cost.flops, 8 * 4 * 25 * 144 * 2);
  EXPECT_EQ(cost.bytes, (8 * 4 * 25 + 4 * 144 + 8 * 16 * 81) * 4);  // (5 - 1) * 2 - 2 + 3 = 9
}

TEST(CostOfOperator, BackwardOfAConvolutionCostsAForwardPassPerGradient) {
  const char* const shapes = "[[8, 16, 5, 5], [8, 4, 9, 9], [16, 4, 3, 3]]";
  const std::string values =
      R"(["", "", "", "[0]", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1", )";
  constexpr double kForward = 8 * 16 * 25 * 36 * 2;
  EXPECT_EQ(
      Cost("aten::convolution_backward", shapes, "", values + R"("[True, True, False]"])").flops,
      2 * kForward);
  EXPECT_EQ(
      Cost("aten::convolution_backward", shapes, "", values + R"("[False, True, False]"])").flops,
      kForward);
}

// 2 batches, 4 heads, 8 queries and 16 keys of depth 32, values of depth 64: 1024 pairs.
TEST(CostOfOperator, Attention) {
  const char* const types = R"(["c10::Half", "c10::Half", "c10::Half"])";
  const OpCost cost = Cost("aten::_scaled_dot_product_flash_attention",
                           "[[2, 4, 8, 32], [2, 4, 16, 32], [2, 4, 16, 64]]", types);
  EXPECT_EQ(cost.flops, 2 * 1024 * (32 + 64));
  EXPECT_EQ(cost.bytes, (2048 + 4096 + 8192 + 4096) * 2);
  // The same with heads behind the sequence.
  EXPECT_EQ(Cost("aten::_flash_attention_forward",
                 "[[2, 8, 4, 32], [2, 16, 4, 32], [2, 16, 4, 64], [], []]", types)
                .flops,
            cost.flops);
  EXPECT_TRUE(
      IsUnknown("aten::_flash_attention_forward", "[[16, 4, 32], [16, 4, 32], [16, 4, 32]]"));
  EXPECT_TRUE(IsUnknown("aten::_efficient_attention_forward",
                        "[[1, 8, 4, 32], [1, 8, 4, 32], [1, 8, 4, 32], [], [3]]"));
}

TEST(CostOfOperator, BackwardOfAttentionIsFiveProducts) {
  const OpCost cost = Cost("aten::_scaled_dot_product_efficient_attention_backward",
                           "[[2, 4, 8, 64], [2, 4, 8, 32], [2, 4, 16, 32], [2, 4, 16, 64]]",
                           R"(["c10::Half", "c10::Half", "c10::Half", "c10::Half"])");
  EXPECT_EQ(cost.flops, 2 * 1024 * (3 * 32 + 2 * 64));
  EXPECT_EQ(cost.bytes, 2 * (2048 + 4096 + 8192 + 4096) * 2);
}

TEST(CostOfOperator, Normalisation) {
  const OpCost cost = Cost("aten::native_layer_norm", "[[2, 3, 4], [], [4], [4], []]",
                           R"(["float", "ScalarList", "float", "float", "Scalar"])");
  EXPECT_EQ(cost.flops, 24 * 7);
  EXPECT_EQ(cost.bytes, 24 * 2 * 4);
  EXPECT_FALSE(cost.is_matrix);
  EXPECT_EQ(Cost("aten::cudnn_batch_norm_backward", "[[2, 3, 4, 4]]", R"(["float"])").bytes,
            96 * 3 * 4);
  EXPECT_EQ(Cost("aten::_fused_rms_norm", "[[2, 3]]", R"(["c10::BFloat16"])").flops, 24);
}

TEST(CostOfOperator, OthersHaveNone) {
  EXPECT_FALSE(HasCostFormula("aten::add"));
  EXPECT_TRUE(IsUnknown("aten::add", "[[2, 3], [2, 3]]"));
  EXPECT_TRUE(IsUnknown("aten::conv2d", "[[8, 4, 9, 9223372036854775807], [16, 4, 3, 3]]",
                        R"(["", "", "", "[1]", "[1]", "[1]", "1"])"));
}

}  // namespace
}  // namespace steplens::analysis
