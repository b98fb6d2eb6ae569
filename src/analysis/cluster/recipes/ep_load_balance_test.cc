#include "analysis/cluster/recipes/recipe_testing.h"
#include "analysis/cluster/recipes/recipes.h"

namespace steplens::analysis::cluster {
namespace {

void AddExperts(StoreBuilder& rank, std::string_view shapes, int64_t begin_ns = 0) {
  rank.store.kernels.Append({.type = rank.Text("GroupedMatmul"),
                             .begin_ns = begin_ns,
                             .dur_ns = 10,
                             .input_shapes = rank.Text(shapes)});
}

void SetGroup(StoreBuilder& rank) {
  rank.store.meta.Append(
      {.name = rank.Text("parallel_group_info"),
       .value = rank.Text(R"({"g": {"group_name": "exp", "global_ranks": [0, 1]}})")});
}

TEST(EpLoadBalance, CountsTheRowsOfActivationsOnly) {
  StoreBuilder rank;
  AddExperts(rank, "128,4096;64,4096;8,4096,8192;8");
  AddExperts(rank, "weight");     // too few inputs
  AddExperts(rank, "x,1;2,2;8");  // no number
  const Answer answer = AskRecipe(EpLoadBalanceRecipe(), {}, {&rank});
  EXPECT_EQ(Cell(TableOf(answer, "EPTokensSummary"), "inputShapesSummary", 0), "192");
}

TEST(EpLoadBalance, ComparesTheRanksOfAGroup) {
  StoreBuilder first;
  StoreBuilder second;
  StoreBuilder idle;
  AddExperts(first, "100,8;2,8;2");
  AddExperts(second, "130,8;2,8;2");
  for (StoreBuilder* rank : {&first, &second}) SetGroup(*rank);
  const Answer answer = AskRecipe(EpLoadBalanceRecipe(), {}, {&first, &second, &idle});
  const table::Table& top = TableOf(answer, "TopEPTokensInfo");
  ASSERT_EQ(top.rows(), 1u);
  EXPECT_EQ(Cell(top, "epRanks", 0), "0,1");
  EXPECT_EQ(Cell(top, "tokensDiff", 0), "30");
  ASSERT_EQ(answer.notes.size(), 1u);
  EXPECT_TRUE(answer.notes[0].starts_with("1 rank ran no GroupedMatmul"));
}

TEST(EpLoadBalance, TakesKernelsThatLieInsideTheStep) {
  StoreBuilder rank;
  AddExperts(rank, "100,8;2,8;2", 0);
  AddExperts(rank, "7,8;2,8;2", 95);  // ends after the step
  rank.Step(1, 0, 100);
  Options options;
  options.step = 1;
  const Answer answer = AskRecipe(EpLoadBalanceRecipe(), options, {&rank});
  EXPECT_EQ(Cell(TableOf(answer, "EPTokensSummary"), "inputShapesSummary", 0), "100");
}

}  // namespace
}  // namespace steplens::analysis::cluster
