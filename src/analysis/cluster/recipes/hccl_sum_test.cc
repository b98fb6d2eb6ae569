#include "analysis/cluster/recipes/recipe_testing.h"
#include "analysis/cluster/recipes/recipes.h"

namespace steplens::analysis::cluster {
namespace {

void AddOp(StoreBuilder& rank, std::string_view name, std::string_view group, int64_t begin_ns,
           int64_t dur_ns) {
  rank.store.comm_ops.Append({.name = rank.Text(name),
                              .op_type = rank.Text("hcom_allReduce_"),
                              .group_name = rank.Text(group),
                              .begin_ns = begin_ns,
                              .dur_ns = dur_ns});
}

TEST(HcclSum, MergesAnOperatorOverRanks) {
  StoreBuilder first;
  StoreBuilder second;
  AddOp(first, "hcom_allReduce__1_0_1", "a", 0, 10);
  AddOp(second, "hcom_allReduce__1_0_1", "a", 0, 30);
  const Answer answer = AskRecipe(HcclSumRecipe(), {}, {&first, &second});
  const table::Table& top = TableOf(answer, "HcclTopOpStats");
  ASSERT_EQ(top.rows(), 1u);
  EXPECT_EQ(top.Find("MeanNs")->doubles[0], 20);
  EXPECT_EQ(Cell(top, "MinRank", 0), "0");
  EXPECT_EQ(Cell(top, "MaxRank", 0), "1");
  EXPECT_EQ(TableOf(answer, "HcclPerRankStats").rows(), 2u);
  EXPECT_EQ(Cell(TableOf(answer, "HcclGroupNameMap"), "Ranks", 0), "0;1");
}

TEST(HcclSum, OnlyCompatMixesGroupsWhoseOperatorsHaveOneName) {
  StoreBuilder rank;
  AddOp(rank, "hcom_allReduce__1_0_1", "a", 0, 10);
  AddOp(rank, "hcom_allReduce__1_0_1", "b", 0, 30);
  Options compat;
  compat.compat = true;
  EXPECT_EQ(TableOf(AskRecipe(HcclSumRecipe(), {}, {&rank}), "HcclTopOpStats").rows(), 2u);
  EXPECT_EQ(TableOf(AskRecipe(HcclSumRecipe(), compat, {&rank}), "HcclTopOpStats").rows(), 1u);
}

TEST(HcclSum, KeepsTheLongestAsManyAsAsked) {
  StoreBuilder rank;
  AddOp(rank, "hcom_allReduce__1_0_1", "a", 0, 10);
  AddOp(rank, "hcom_allReduce__1_1_1", "a", 0, 30);
  Options options;
  options.values["top_num"] = "1";
  const Answer answer = AskRecipe(HcclSumRecipe(), options, {&rank});
  const table::Table& top = TableOf(answer, "HcclTopOpStats");
  ASSERT_EQ(top.rows(), 1u);
  EXPECT_EQ(Cell(top, "OpName", 0), "hcom_allReduce__1_1_1");
}

TEST(HcclSum, TakesCommunicationResultsWhereThereIsNoTimeline) {
  StoreBuilder rank;
  for (const char* op : {"hcom_allReduce__1_0_1", "Total Op Info"}) {
    rank.store.comm_times.Append({.step = rank.Text("step10"),
                                  .op_name = rank.Text(op),
                                  .group_name = rank.Text("17"),
                                  .elapse_ms = 1.5});
  }
  const Answer answer = AskRecipe(HcclSumRecipe(), {}, {&rank});
  const table::Table& all = TableOf(answer, "HcclAllRankStats");
  ASSERT_EQ(all.rows(), 1u);
  EXPECT_EQ(Cell(all, "OpType", 0), "hcom_allReduce_");
  EXPECT_EQ(all.Find("MeanNs")->doubles[0], 1'500'000);
}

TEST(HcclSum, ARankWithoutTheStepContributesNothing) {
  StoreBuilder rank;
  AddOp(rank, "hcom_allReduce__1_0_1", "a", 0, 10);
  Options options;
  options.step = 3;
  EXPECT_EQ(TableOf(AskRecipe(HcclSumRecipe(), options, {&rank}), "HcclAllRankStats").rows(), 0u);
}

}  // namespace
}  // namespace steplens::analysis::cluster
