#include <gtest/gtest.h>

#include "analysis/cluster/recipes/recipes.h"
#include "analysis/cluster/recipes/test_model_rank.h"

namespace steplens::analysis::cluster {
namespace {

ModelRank MakeRank() {
  ModelRank rank;
  rank.Op("aten::mm", 120);
  rank.Kernel(120, "MatMul_k", 1000, 300, "FLOAT");
  rank.Kernel(120, "Cast_k", 1500, 100);
  StoreBuilder& b = rank.builder();
  const store::TrackId cann = b.ThreadOf("CANN", "main");
  b.Slice(cann, 130, 170, "Node@launch", "", 7);
  b.store.slices.correlation.Set(1, 7);  // the task of MatMul_k
  return rank;
}

const table::Table& File(const Answer& answer, std::string_view name) {
  for (const RankEdit& edit : answer.edits) {
    if (edit.file_name == name) return edit.table;
  }
  ADD_FAILURE() << "no " << name;
  return answer.edits.at(0).table;
}

TEST(ExportSummary, ApiTimesAreThoseOfTheHost) {
  const auto recipe = Make(ExportSummaryRecipe(), {});
  const Answer answer = Ask(*recipe, MakeRank());
  const table::Table& apis = File(answer, "api_statistic.csv");
  ASSERT_EQ(apis.rows(), 1u);
  EXPECT_EQ(Cell(apis, "Level", 0), "node");
  EXPECT_EQ(Cell(apis, "API Name", 0), "launch");
  EXPECT_EQ(Cell(apis, "Time(us)", 0), "0.040");
}

TEST(ExportSummary, CompatApiTimesAreThoseOfTheTasks) {
  const auto recipe = Make(ExportSummaryRecipe(), CompatOptions());
  const Answer answer = Ask(*recipe, MakeRank());
  EXPECT_EQ(Cell(File(answer, "api_statistic.csv"), "Total Time(ns)", 0), "300");
}

TEST(ExportSummary, KernelsHaveTheCollectorsColumns) {
  const auto recipe = Make(ExportSummaryRecipe(), {});
  const Answer answer = Ask(*recipe, MakeRank());
  const table::Table& kernels = File(answer, "kernel_details.csv");
  ASSERT_EQ(kernels.rows(), 2u);
  EXPECT_EQ(Cell(kernels, "Start Time(us)", 0), "1.000\t");
  EXPECT_EQ(Cell(kernels, "Duration(us)", 0), "0.300");
  EXPECT_EQ(Cell(kernels, "Input Shapes", 0), "\"\"");
  EXPECT_EQ(Cell(kernels, "Input Shapes", 1), "N/A");
  EXPECT_EQ(answer.files.at(1).path, "ExportSummary/0/kernel_details.csv");
}

TEST(ExportSummary, CompatWaitReachesFromTheStartBeforeToTheEnd) {
  const auto recipe = Make(ExportSummaryRecipe(), CompatOptions());
  const Answer answer = Ask(*recipe, MakeRank());
  EXPECT_EQ(Cell(File(answer, "kernel_details.csv"), "task_wait_time", 1), "0.6");
}

}  // namespace
}  // namespace steplens::analysis::cluster
