#include "analysis/cluster/recipes/recipe_testing.h"
#include "analysis/cluster/recipes/recipes.h"

namespace steplens::analysis::cluster {
namespace {

// Two levels that both have an API "launch"; `extra_ns` makes the second call longer.
StoreBuilder MakeRank(int64_t extra_ns) {
  StoreBuilder rank;
  rank.ThreadOf("Ascend Hardware", "Stream 1");
  const store::TrackId cann = rank.ThreadOf("CANN", "Thread 1");
  rank.Slice(cann, 0, 10, "Node@launch");
  rank.Slice(cann, 20, 40 + extra_ns, "Node@launch");
  rank.Slice(cann, 0, 50, "AscendCL@launch");
  return rank;
}

TEST(CannApiSum, KeepsLayersApart) {
  StoreBuilder rank = MakeRank(0);
  const Answer answer = AskRecipe(CannApiSumRecipe(), {}, {&rank});
  const table::Table& all = TableOf(answer, "CannApiSum");
  ASSERT_EQ(all.rows(), 2u);
  EXPECT_EQ(Cell(all, "apiType", 0), "acl");
  EXPECT_EQ(Cell(all, "apiType", 1), "node");
  EXPECT_EQ(Cell(all, "totalTimeNs", 1), "30");
  EXPECT_EQ(Cell(all, "timeRatio", 1), "100");  // of its layer
}

TEST(CannApiSum, CompatAddsLayersUpAndNamesAllRanksAtTheExtremes) {
  StoreBuilder first = MakeRank(0);
  StoreBuilder second = MakeRank(0);
  Options options;
  options.compat = true;
  const Answer answer = AskRecipe(CannApiSumRecipe(), options, {&first, &second});
  const table::Table& all = TableOf(answer, "CannApiSum");
  ASSERT_EQ(all.rows(), 1u);
  EXPECT_EQ(Cell(all, "totalCount", 0), "6");
  EXPECT_EQ(Cell(all, "minRank", 0), "0, 1");
  EXPECT_EQ(all.Find("apiType"), nullptr);
}

TEST(CannApiSum, QuartilesOfAllRanksAreThoseOfAllCalls) {
  StoreBuilder first = MakeRank(0);      // node: 10, 20
  StoreBuilder second = MakeRank(1000);  // node: 10, 1020
  const Answer ours = AskRecipe(CannApiSumRecipe(), {}, {&first, &second});
  const table::Table& all = TableOf(ours, "CannApiSum");
  ASSERT_EQ(Cell(all, "apiType", 0), "node");
  EXPECT_EQ(all.Find("medNs")->doubles[0], 15);
  EXPECT_EQ(Cell(all, "maxRank", 0), "1");
}

TEST(CannApiSum, CompatRoundsTiesOfARankAsSqliteDoes) {
  StoreBuilder rank;
  const store::TrackId cann = rank.ThreadOf("CANN", "Thread 1");
  // Of 2, 2, 2 and 3 ns the mean is 2.25, the third quartile too.
  for (const int64_t dur_ns : {2, 2, 2, 3}) rank.Slice(cann, 10, 10 + dur_ns, "Node@launch");
  Options options;
  options.compat = true;
  const Answer answer = AskRecipe(CannApiSumRecipe(), options, {&rank});
  const table::Table& of_rank = TableOf(answer, "CannApiSumRank");
  EXPECT_EQ(of_rank.Find("averageNs")->doubles[0], 2.3);
  EXPECT_EQ(of_rank.Find("Q3Ns")->doubles[0], 2.3);
  const table::Table& all = TableOf(answer, "CannApiSum");
  EXPECT_EQ(all.Find("averageNs")->doubles[0], 2.2);  // pandas: to the even digit
  EXPECT_EQ(all.Find("Q3Ns")->doubles[0], 2.3);       // of the rank's, which was rounded
}

// The double of 8.85 is a little less, that of 25.55 a little more: for SQLite both are ties.
TEST(CannApiSum, CompatRoundsWhatReadsAsATieAsSqliteDoes) {
  StoreBuilder rank;
  const store::TrackId cann = rank.ThreadOf("CANN", "Thread 1");
  for (int i = 0; i < 20; ++i) rank.Slice(cann, 10, 10 + (i < 17 ? 9 : 8), "Node@launch");
  for (int i = 0; i < 20; ++i) rank.Slice(cann, 10, 10 + (i < 11 ? 26 : 25), "Node@wait");
  Options options;
  options.compat = true;
  const Answer answer = AskRecipe(CannApiSumRecipe(), options, {&rank});
  const table::Table& of_rank = TableOf(answer, "CannApiSumRank");
  EXPECT_EQ(of_rank.Find("averageNs")->doubles[0], 25.6);
  EXPECT_EQ(of_rank.Find("averageNs")->doubles[1], 8.9);
}

TEST(CannApiSum, TakesOnlyCallsOfTheStep) {
  StoreBuilder rank = MakeRank(0);
  rank.Step(7, 15, 100);
  Options options;
  options.step = 7;
  const Answer answer = AskRecipe(CannApiSumRecipe(), options, {&rank});
  EXPECT_EQ(Cell(TableOf(answer, "CannApiSumRank"), "totalCount", 0), "1");
}

TEST(CannApiSum, SaysHowManyRanksHaveNoCalls) {
  StoreBuilder rank;
  const Answer answer = AskRecipe(CannApiSumRecipe(), {}, {&rank});
  ASSERT_EQ(answer.notes.size(), 1u);
  EXPECT_TRUE(answer.notes[0].starts_with("1 rank recorded"));
}

}  // namespace
}  // namespace steplens::analysis::cluster
