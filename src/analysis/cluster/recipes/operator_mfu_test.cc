#include <gtest/gtest.h>

#include "analysis/cluster/recipes/recipes.h"
#include "analysis/cluster/recipes/test_model_rank.h"
#include "analysis/testing/gpu_rank.h"

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

// 2 GFLOP in 1 ms are 2 TFLOP/s of an A40's 149.7.
TEST(OperatorMfu, FlopsOfAGpuFollowFromTheShapes) {
  GpuRank rank;
  rank.Device("NVIDIA A40");
  rank.Op("aten::linear", 10, 30, "[[1000, 1000], [1000, 1000]]", false);
  rank.Op("aten::mm", 11, 20, "[[1000, 1000], [1000, 1000]]", true);
  rank.Op("aten::add", 40, 50, "[[1000, 1000]]", true);
  const Answer answer = AskRecipe(OperatorMfuRecipe(), {}, {&rank});
  EXPECT_TRUE(answer.notes.empty());
  const table::Table& kernels = TableOf(answer, "OperatorMFU");
  ASSERT_EQ(kernels.rows(), 1u);
  EXPECT_EQ(Cell(kernels, "op_name", 0), "aten::mm");
  EXPECT_EQ(Cell(kernels, "kernel_name", 0), "gemm");
  EXPECT_EQ(Cell(kernels, "flops", 0), "2e+09");
  EXPECT_EQ(Cell(kernels, "actual_tflops", 0), "2");
  EXPECT_EQ(Cell(kernels, "chip_peak_tflops", 0), "149.7");
  EXPECT_EQ(Cell(kernels, "mfu", 0), "0.0134");
  EXPECT_EQ(Cell(kernels, "input_shapes", 0), "[[1000, 1000], [1000, 1000]]");
  const table::Table& rooflines = TableOf(answer, "OperatorRoofline");
  ASSERT_EQ(rooflines.rows(), 1u);
  EXPECT_EQ(Cell(rooflines, "Bound", 0), "compute");
}

TEST(OperatorMfu, SaysWhatIsMissingOfAGpu) {
  GpuRank unknown;
  unknown.Op("aten::mm", 10, 20, "[[1000, 1000], [1000, 1000]]", true);
  GpuRank silent;
  silent.Op("aten::mm", 10, 20, "", true);
  const Answer answer = AskRecipe(OperatorMfuRecipe(), {}, {&unknown, &silent});
  EXPECT_EQ(answer.notes.size(), 2u);
  EXPECT_EQ(Cell(TableOf(answer, "OperatorMFU"), "actual_tflops", 0), "2");
  EXPECT_EQ(Cell(TableOf(answer, "OperatorMFU"), "mfu", 0), "");
}

}  // namespace
}  // namespace steplens::analysis::cluster
