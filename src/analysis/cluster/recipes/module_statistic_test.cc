#include <gtest/gtest.h>

#include "analysis/cluster/recipes/recipes.h"
#include "analysis/cluster/recipes/test_model_rank.h"

namespace steplens::analysis::cluster {
namespace {

TEST(ModuleStatistic, OneRowPerOperatorOfAModule) {
  ModelRank rank(3);
  rank.Range("Module", "MLP", 100, 200);
  rank.Op("aten::mm", 120);
  rank.Kernel(120, "MatMul_k", 1000, 30);
  rank.Kernel(120, "Cast_k", 1100, 10);
  const auto recipe = Make(ModuleStatisticRecipe(), {});
  const Answer answer = Ask(*recipe, rank);
  const table::Table& table = answer.tables.at(0).table;
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(Cell(table, "module", 0), "MLP");
  EXPECT_EQ(Cell(table, "kernelList", 0), "MatMul_k, Cast_k");
  EXPECT_EQ(Cell(table, "totalKernelDuration(ns)", 0), "40");
  EXPECT_EQ(Cell(table, "rankID", 0), "3");
  EXPECT_TRUE(answer.notes.empty());
}

TEST(ModuleStatistic, SaysHowManyRanksHaveNoModules) {
  const auto recipe = Make(ModuleStatisticRecipe(), {});
  const Answer answer = Ask(*recipe, ModelRank());
  ASSERT_EQ(answer.notes.size(), 1u);
  EXPECT_EQ(answer.tables.at(0).table.rows(), 0u);
}

}  // namespace
}  // namespace steplens::analysis::cluster
