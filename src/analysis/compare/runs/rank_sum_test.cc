#include "analysis/compare/runs/rank_sum.h"

#include <gtest/gtest.h>

#include <vector>

namespace steplens::analysis::runs {
namespace {

using Values = std::vector<double>;

double P(const Values& a, const Values& b) { return RankSumP(a, b); }

TEST(RankSumP, CountsTheWaysToChooseRanks) {
  // Of the 6 ways to choose 2 of 4 ranks, {1,2} and {3,4} are as far out.
  EXPECT_DOUBLE_EQ(P({1, 2}, {3, 4}), 2.0 / 6);
  // The sum 4 is 1 from the expected 5, as 3, 6 and 7 are or more: 4 of 6 ways.
  EXPECT_DOUBLE_EQ(P({1, 3}, {2, 4}), 4.0 / 6);
  EXPECT_DOUBLE_EQ(P({1, 2, 3}, {4, 5, 6}), 2.0 / 20);
  EXPECT_DOUBLE_EQ(P({6, 7, 8, 9, 10}, {1, 2, 3, 4, 5}), 2.0 / 252);
  // Unequal sizes: the lowest of 5 alone, or the highest.
  EXPECT_DOUBLE_EQ(P({1}, {2, 3, 4, 5}), 2.0 / 5);
}

TEST(RankSumP, GivesTiesTheirMiddleRank) {
  // Ranks 2, 2, 2 and 4: all sums are 1 away from the expected 5.
  EXPECT_DOUBLE_EQ(P({1, 1}, {1, 2}), 1);
  // Ranks 2, 2, 2, 5, 5, 5: sums 6 and 15 once each, 9 and 12 nine times.
  EXPECT_DOUBLE_EQ(P({1, 1, 1}, {2, 2, 2}), 2.0 / 20);
  EXPECT_DOUBLE_EQ(P({7, 7, 7}, {7, 7, 7}), 1);
  EXPECT_DOUBLE_EQ(P({}, {1, 2}), 1);
}

TEST(RankSumP, IsTheSameBothWays) {
  const Values a = {1.5, 2.5, 9, 4, 7};
  const Values b = {3, 2, 8, 8, 11, 12};
  EXPECT_DOUBLE_EQ(P(a, b), P(b, a));
}

TEST(RankSumP, ApproximationMeetsTheExactValues) {
  // 20 against 20 is exact, 21 against 20 approximated: samples of one pattern have close p.
  Values a;
  Values b;
  for (int i = 0; i < 20; ++i) {
    a.push_back(i);
    b.push_back(i + 5.5);
  }
  const double exact = P(a, b);
  a.push_back(10.2);
  const double approximated = P(a, b);
  EXPECT_GT(exact, 0.005);
  EXPECT_LT(exact, 0.02);
  EXPECT_NEAR(approximated, exact, 0.004);
}

TEST(SmallestP, IsThatOfSeparatedSamples) {
  EXPECT_DOUBLE_EQ(SmallestP(5, 5), 2.0 / 252);
  EXPECT_DOUBLE_EQ(SmallestP(1, 20), 2.0 / 21);
  EXPECT_DOUBLE_EQ(SmallestP(1, 1), 1);
  EXPECT_DOUBLE_EQ(SmallestP(0, 9), 1);
}

TEST(Tails, HaveKnownValues) {
  EXPECT_NEAR(NormalTail(1.959964), 0.025, 1e-7);
  EXPECT_NEAR(NormalTailPlace(0.025), 1.959964, 1e-6);
  EXPECT_NEAR(StudentTail(1, 1), 0.25, 1e-12);      // Cauchy: a quarter lies beyond 1
  EXPECT_NEAR(StudentTail(2, 2), 0.0917517, 1e-7);  // 1/2 - 2 / (2 sqrt(2 + 4))
  EXPECT_NEAR(StudentTail(1, 3), 0.1955011, 1e-7);
  EXPECT_NEAR(StudentTail(2.228139, 10), 0.025, 1e-7);  // tables have 2.228 for 10 degrees
  EXPECT_NEAR(StudentTail(0, 7), 0.5, 1e-12);
}

}  // namespace
}  // namespace steplens::analysis::runs
