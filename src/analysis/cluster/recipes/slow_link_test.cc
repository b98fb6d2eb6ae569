#include "analysis/cluster/recipes/recipes.h"
#include "analysis/cluster/recipes/test_ask.h"

namespace steplens::analysis::cluster {
namespace {

TEST(SlowLink, ReportsOperatorsWithATransmitTimeFarFromTheirLike) {
  TestRank a(0);
  TestRank b(1);
  for (int i = 0; i < 16; ++i) {
    const std::string name = "hcom_allReduce__586_" + std::to_string(i) + "_1";
    const int64_t dur_ns = i == 15 ? 900 : 100;
    a.Comm(name, "g", 10'000 * i, 10'000 * i + dur_ns + 7);  // waits 7 ns for the other
    b.Comm(name, "g", 10'000 * i, 10'000 * i + dur_ns);
  }
  const Result<Answer> answer = Ask(SlowLinkRecipe(), {&a, &b});
  const table::Table& sum = answer->tables[0].table;
  ASSERT_EQ(sum.rows(), 1u);
  EXPECT_EQ(sum.columns()[0].texts[0], "hcom_allReduce_2_1024");  // 256 elements of 4 bytes
  EXPECT_EQ(sum.Find("MaxNs")->doubles[0], 900);
  EXPECT_EQ(answer->tables[1].table.rows(), 32u);
}

TEST(SlowLink, SaysWhenThereIsNoOutlier) {
  TestRank a(0);
  a.Comm("hcom_allReduce__586_0_1", "g", 2000, 3000);
  const Result<Answer> answer = Ask(SlowLinkRecipe(), {&a});
  EXPECT_EQ(answer->tables[0].table.rows(), 0u);
  ASSERT_EQ(answer->notes.size(), 1u);
}

TEST(SlowLink, NothingSeenIsNoAllClear) {
  const TestRank a(0);
  EXPECT_TRUE(Ask(SlowLinkRecipe(), {&a})->notes.empty());
}

}  // namespace
}  // namespace steplens::analysis::cluster
