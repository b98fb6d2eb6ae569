#include "analysis/cluster/recipes/similarity.h"

#include <gtest/gtest.h>

namespace steplens::analysis::cluster {
namespace {

TEST(Similarity, IsTwiceTheMatchOverBothLengths) {
  EXPECT_DOUBLE_EQ(Similarity("abcd", "abcd"), 1);
  EXPECT_DOUBLE_EQ(Similarity("abcd", "efgh"), 0);
  EXPECT_DOUBLE_EQ(Similarity("", ""), 1);
  EXPECT_DOUBLE_EQ(Similarity("abcd", "bcde"), 0.75);
}

TEST(Similarity, MatchesLeftAndRightOfTheLongestPiece) {
  // "Model/" and "Attention" match, "[Backward]" stands between them.
  EXPECT_DOUBLE_EQ(Similarity("/QwenModel/Attention", "ToyModel/[Backward]Attention"), 30.0 / 48);
}

TEST(Similarity, IsNeverAboveItsBound) {
  for (const char* a : {"", "a", "abcabc", "Layer/MLP"}) {
    for (const char* b : {"", "b", "cbacba", "MLP/Layer"})
      EXPECT_LE(Similarity(a, b), SimilarityAtMost(a, b));
  }
}

}  // namespace
}  // namespace steplens::analysis::cluster
