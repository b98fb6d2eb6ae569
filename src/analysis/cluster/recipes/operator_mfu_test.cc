#include <gtest/gtest.h>

#include "analysis/cluster/recipes/recipes.h"
#include "analysis/cluster/recipes/test_model_rank.h"

namespace steplens::analysis::cluster {
namespace {

// 1 core at 1 MHz does 8192 FLOP in 1000 ns, so 4096 FLOP in that time are half of the peak.
ModelRank MakeRank(std::string_view type) {
  ModelRank rank;
  rank.Meta("DeviceInfo", R"({"ai_core_num": 1, "aic_frequency": "1"})");
  rank.Range("mfu_flops", "4096-aten::mm", 119, 131);
  rank.Op("aten::mm", 120);
  rank.Kernel(120, "MatMul_k", 1000, 750, type);
  rank.Kernel(120, "Cast_k", 2000, 250, type);
  return rank;
}

TEST(OperatorMfu, SharesTheFlopsAmongTheKernelsOfAnOperator) {
  const auto recipe = Make(OperatorMfuRecipe(), {});
  const Answer answer = Ask(*recipe, MakeRank("DT_BF16;DT_BF16"));
  const table::Table& table = answer.tables.at(0).table;
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(Cell(table, "mfu", 0), "0.5");
  EXPECT_EQ(Cell(table, "mfu", 1), "0.5");
  EXPECT_EQ(Cell(table, "flops", 0), "3072");
  EXPECT_EQ(Cell(table, "flops", 1), "1024");
}

TEST(OperatorMfu, CompatGivesAllFlopsToEachKernel) {
  const auto recipe = Make(OperatorMfuRecipe(), CompatOptions());
  const Answer answer = Ask(*recipe, MakeRank("DT_BF16;DT_BF16"));
  const table::Table& table = answer.tables.at(0).table;
  EXPECT_EQ(Cell(table, "mfu", 0), "0.6667");
  EXPECT_EQ(Cell(table, "mfu", 1), "2");
  EXPECT_EQ(Cell(table, "flops", 1), "4096");
}

TEST(OperatorMfu, TypeWithoutPeakHasNoMfu) {
  const auto recipe = Make(OperatorMfuRecipe(), {});
  const Answer answer = Ask(*recipe, MakeRank("INT32"));
  EXPECT_EQ(Cell(answer.tables.at(0).table, "mfu", 0), "");
  EXPECT_EQ(answer.notes.size(), 1u);
  const auto compat = Make(OperatorMfuRecipe(), CompatOptions());
  EXPECT_TRUE(Ask(*compat, MakeRank("INT32")).tables.empty());
}

TEST(OperatorMfu, SaysWhatIsMissing) {
  const auto recipe = Make(OperatorMfuRecipe(), {});
  const Answer answer = Ask(*recipe, ModelRank());
  EXPECT_EQ(answer.tables.at(0).table.rows(), 0u);
  EXPECT_EQ(answer.notes.size(), 1u);
}

}  // namespace
}  // namespace steplens::analysis::cluster
