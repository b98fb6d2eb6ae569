#include "base/name_pattern.h"

#include <gtest/gtest.h>

namespace steplens {
namespace {

TEST(FitsPattern, AStarStandsForAnyText) {
  EXPECT_TRUE(FitsPattern("MatMulV2", "MatMul*"));
  EXPECT_TRUE(FitsPattern("MatMulV2", "*"));
  EXPECT_TRUE(FitsPattern("", "*"));
  EXPECT_TRUE(FitsPattern("aXbXc", "a*b*c"));
  EXPECT_TRUE(FitsPattern("aab", "*ab"));
  EXPECT_FALSE(FitsPattern("BatchMatMul", "MatMul*"));
  EXPECT_FALSE(FitsPattern("abc", "a*b"));
}

TEST(FitsPattern, AQuestionMarkStandsForOneCharacter) {
  EXPECT_TRUE(FitsPattern("ab", "a?"));
  EXPECT_TRUE(FitsPattern("aclnnMm_MatMulV2", "*MatMul??"));
  EXPECT_FALSE(FitsPattern("a", "a?"));
  EXPECT_FALSE(FitsPattern("MatMul", "MatMul?"));
}

TEST(FitsPattern, TheWholeTextMustFit) {
  EXPECT_TRUE(FitsPattern("a", "a"));
  EXPECT_FALSE(FitsPattern("a", ""));
  EXPECT_FALSE(FitsPattern("", "a"));
  EXPECT_FALSE(FitsPattern("aa", "a"));
}

}  // namespace
}  // namespace steplens
