#include "base/outer_first.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace steplens {
namespace {

std::vector<uint32_t> Ordered(const std::vector<int64_t>& begin_ns) {
  std::vector<uint32_t> rows(begin_ns.size());
  std::iota(rows.begin(), rows.end(), 0);
  OuterFirst(begin_ns, std::span(rows));
  return rows;
}

TEST(OuterFirst, PutsWhatEndsLastFirst) {
  // [0 [10 [20] [30]] [50]] [90], by their ends.
  EXPECT_EQ(Ordered({20, 30, 10, 50, 0, 90}), (std::vector<uint32_t>{4, 2, 0, 1, 3, 5}));
}

TEST(OuterFirst, TakesTheLaterOfTwoThatStartTogetherForTheOuter) {
  EXPECT_EQ(Ordered({5, 5, 5}), (std::vector<uint32_t>{2, 1, 0}));
}

TEST(OuterFirst, LosesNothingOfRowsThatAreInNoOrder) {
  std::vector<uint32_t> rows = Ordered({30, 10, 20, 40, 5, 35});
  std::sort(rows.begin(), rows.end());
  EXPECT_EQ(rows, (std::vector<uint32_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_TRUE(Ordered({}).empty());
}

}  // namespace
}  // namespace steplens
