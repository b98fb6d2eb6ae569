#include "analysis/cluster/recipes/recipe_testing.h"
#include "analysis/cluster/recipes/recipes.h"

namespace steplens::analysis::cluster {
namespace {

StoreBuilder MakeRank(int64_t matmul_ns) {
  StoreBuilder rank;
  rank.store.kernels.Append({.name = rank.Text("mm"),
                             .type = rank.Text("MatMulV2"),
                             .core = rank.Text("AI_CORE"),
                             .begin_ns = 0,
                             .dur_ns = matmul_ns,
                             .input_shapes = rank.Text("2,3;3,4")});
  rank.Kernel("add", "Add", "AI_VECTOR_CORE", 100, 105);
  rank.Kernel("hcom_allReduce__1_0_1", "hcom_allReduce_", "HCCL", 0, 1000);
  rank.Kernel("hcom_allReduce_AicpuKernel", "AicpuKernel", "AI_CPU", 0, 1000);
  return rank;
}

TEST(ComputeOpSum, LeavesCollectivesOutAndPutsTheLargestFirst) {
  StoreBuilder rank = MakeRank(50);
  const Answer answer = AskRecipe(ComputeOpSumRecipe(), {}, {&rank});
  const table::Table& all = TableOf(answer, "ComputeOpAllRankStats");
  ASSERT_EQ(all.rows(), 2u);
  EXPECT_EQ(Cell(all, "OpType", 0), "MatMulV2");
  EXPECT_EQ(Cell(all, "OpType", 1), "Add");
}

TEST(ComputeOpSum, MergesRanksAndListsEach) {
  StoreBuilder first = MakeRank(50);
  StoreBuilder second = MakeRank(70);
  const Answer answer = AskRecipe(ComputeOpSumRecipe(), {}, {&first, &second});
  const table::Table& all = TableOf(answer, "ComputeOpAllRankStats");
  EXPECT_EQ(Cell(all, "Count", 0), "2");
  EXPECT_EQ(all.Find("MeanNs")->doubles[0], 60);
  const table::Table& ranks = TableOf(answer, "ComputeOpPerRankStatsByOpType");
  ASSERT_EQ(ranks.rows(), 4u);
  EXPECT_EQ(Cell(ranks, "Rank", 0), "0");
  EXPECT_EQ(Cell(ranks, "Rank", 3), "1");
}

TEST(ComputeOpSum, OnlyCompatHasShapesInQuotes) {
  StoreBuilder rank = MakeRank(50);
  Options compat;
  compat.compat = true;
  const Answer ours = AskRecipe(ComputeOpSumRecipe(), {}, {&rank});
  const Answer theirs = AskRecipe(ComputeOpSumRecipe(), compat, {&rank});
  const std::string_view table = "ComputeOpPerRankStatsByOpName";
  EXPECT_EQ(Cell(TableOf(ours, table), "InputShapes", 0), "2,3;3,4");
  EXPECT_EQ(Cell(TableOf(theirs, table), "InputShapes", 0), "\"2,3;3,4\"");
  EXPECT_EQ(Cell(TableOf(theirs, table), "InputShapes", 1), "N/A");  // not recorded
}

TEST(ComputeOpSum, ExcludeOpNameLeavesTheTableByNameOut) {
  StoreBuilder rank = MakeRank(50);
  Options options;
  options.values["exclude_op_name"] = "1";
  EXPECT_EQ(AskRecipe(ComputeOpSumRecipe(), options, {&rank}).tables.size(), 2u);
}

}  // namespace
}  // namespace steplens::analysis::cluster
