#include "analysis/whatif/dependency_graph.h"

#include <gtest/gtest.h>

namespace steplens::analysis {
namespace {

// 0 -> 1 -> 3 and 0 -> 2 -> 3, then 3 -> 4.
DependencyGraph Diamond() { return {5, {0, 1, 0, 2, 3}, {1, 3, 2, 3, 4}}; }

TEST(DependencyGraph, TakesTheLongerWay) {
  const std::vector<int64_t> weights{3, 4, 5, 1, 2};
  EXPECT_EQ(Diamond().Earliest(weights), (std::vector<int64_t>{0, 3, 5, 7, 9}));
}

TEST(DependencyGraph, AnEdgeThatDoesNotCountHoldsNothingUp) {
  const std::vector<int64_t> weights{3, DependencyGraph::kDropped, 5, 1, 2};
  EXPECT_EQ(Diamond().Earliest(weights), (std::vector<int64_t>{0, 3, 5, 6, 8}));
}

TEST(DependencyGraph, SaysHowLateAPointMayCome) {
  const std::vector<int64_t> weights{3, 4, 5, 1, 2};
  std::vector<int64_t> limits(5, DependencyGraph::kNoLimit);
  limits[4] = 9;
  // The way over 2 has one unit to spare.
  EXPECT_EQ(Diamond().Latest(weights, limits), (std::vector<int64_t>{0, 3, 6, 7, 9}));
}

TEST(DependencyGraph, FindsCircles) {
  EXPECT_TRUE(Diamond().is_acyclic());
  const DependencyGraph circle(4, {0, 1, 2, 0}, {1, 2, 1, 3});
  EXPECT_FALSE(circle.is_acyclic());
  EXPECT_EQ(circle.Reached(), (std::vector<bool>{true, false, false, true}));
}

TEST(DependencyGraph, IsEmptyWithoutPoints) {
  const DependencyGraph none(0, {}, {});
  EXPECT_TRUE(none.is_acyclic());
  EXPECT_TRUE(none.Earliest({}).empty());
}

}  // namespace
}  // namespace steplens::analysis
