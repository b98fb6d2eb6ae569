#include "collect/op_inputs.h"

#include <gtest/gtest.h>

#include <vector>

#include "steplens/collect.h"

namespace steplens::collect {
namespace {

std::string Shapes(std::vector<int64_t> words) {
  const std::vector<uint64_t> raw(words.begin(), words.end());
  std::string out;
  AppendShapes(raw, &out);
  return out;
}

TEST(AppendShapes, JoinsDimensionsAndInputs) {
  EXPECT_EQ(Shapes({2, 32, 3, 1, 64, -1, 0}), "32,3;64;;");
  EXPECT_EQ(Shapes({-1}), "");
  EXPECT_EQ(Shapes({}), "");
  EXPECT_EQ(Shapes({5, 1, 2}), "1,2") << "counts beyond the end are not believed";
}

class Inputs : public testing::Test {
 protected:
  InputTexts Describe(const std::vector<uint64_t>& words, bool with_tensors) {
    InputTexts out;
    out.types = "left over";
    DescribeInputs(words, with_tensors, strings_, &out);
    return out;
  }
  uint64_t Tensor(uint64_t dimensions, uint64_t bits = SL_INPUT_HAS_STORAGE | SL_INPUT_STRIDED) {
    return SL_INPUT(float_, dimensions, SL_INPUT_TENSOR | bits, 4, 0, -1);
  }

  StringTable strings_{1 << 20};
  const uint32_t float_ = strings_.Intern("float");
  const uint32_t scalar_ = strings_.Intern("Scalar");
  const uint32_t none_ = strings_.Intern("None");
  const uint32_t list_ = strings_.Intern("TensorList");
};

TEST_F(Inputs, ShapesAloneNeedNoAddresses) {
  const auto texts = Describe({Tensor(2), 32, 3, SL_INPUT(none_, 0, SL_INPUT_OTHER, 0, 0, 0),
                               Tensor(1), 64, SL_INPUT(scalar_, 0, SL_INPUT_INT, 0, 0, 0)},
                              false);
  EXPECT_EQ(texts.types, "float;None;float;Scalar");
  EXPECT_EQ(texts.shapes, "32,3;;64;");
  EXPECT_EQ(texts.tensors, "");
  EXPECT_EQ(texts.lists, "");
}

TEST_F(Inputs, TensorsHaveEightItems) {
  const auto texts = Describe({Tensor(2), 0x10, 0xAB0, 2, 3, 3, 1, Tensor(0), 0x20, 0,
                               SL_INPUT(scalar_, 0, SL_INPUT_DOUBLE, 0, 0, 0),
                               SL_INPUT(scalar_, 0, SL_INPUT_BOOL, 0, 0, 0)},
                              true);
  EXPECT_EQ(texts.types, "float;float;Scalar;Scalar");
  EXPECT_EQ(texts.shapes, "2,3;;;");
  EXPECT_EQ(texts.tensors, "0x10;0xab0;float;4;2,3;3,1;0;-1)0x20;0x0;float;4;;;0;-1");
  EXPECT_EQ(texts.scalars, "Double;Bool");
}

TEST_F(Inputs, ATensorWithoutStorageAndStridesLeavesThemEmpty) {
  EXPECT_EQ(Describe({Tensor(1, 0), 0x10, 5}, true).tensors, "0x10;;float;4;5;;0;-1");
}

TEST_F(Inputs, ListsHoldTheirTensors) {
  const uint64_t list = SL_INPUT(list_, 0, SL_INPUT_LIST, 0, 0, 0);
  const auto texts = Describe(
      {list, 2, Tensor(1), 1, 2, 3, 1, Tensor(1), 4, 5, 6, 1, list, 0, Tensor(1), 7, 8, 9, 1},
      true);
  EXPECT_EQ(texts.types, "TensorList;TensorList;float");
  EXPECT_EQ(texts.shapes, ";;9");
  EXPECT_EQ(texts.lists, "0x1;0x2;float;4;3;1;0;-1)0x4;0x5;float;4;6;1;0;-1)}");
  EXPECT_EQ(texts.tensors, "0x7;0x8;float;4;9;1;0;-1");
}

TEST_F(Inputs, TensorsAreFilledIntoTheirPlaces) {
  const std::vector<uint64_t> words = {Tensor(1), 1, 2, 3, 1, Tensor(0), 4, 5};
  std::string text;
  FillInTensors("weight)\x01)\x01}bias)", words, strings_, &text);
  EXPECT_EQ(text, "weight)0x1;0x2;float;4;3;1;0;-1)0x4;0x5;float;4;;;0;-1}bias)");
  text.clear();
  FillInTensors(
      "a\x01"
      "b\x01",
      {}, strings_, &text);
  EXPECT_EQ(text, "ab");
}

TEST_F(Inputs, CountsBeyondTheEndAreNotBelieved) {
  const uint64_t list = SL_INPUT(list_, 0, SL_INPUT_LIST, 0, 0, 0);
  const std::vector<uint64_t> words = {Tensor(3),    1, 2, 7, list, uint64_t{1} << 40,
                                       Tensor(4000), 9};
  for (size_t count = 0; count <= words.size(); ++count) {
    for (const bool with_tensors : {false, true}) {
      const auto texts =
          Describe({words.begin(), words.begin() + static_cast<ptrdiff_t>(count)}, with_tensors);
      EXPECT_EQ(texts.types.empty(), count == 0);
    }
  }
}

}  // namespace
}  // namespace steplens::collect
