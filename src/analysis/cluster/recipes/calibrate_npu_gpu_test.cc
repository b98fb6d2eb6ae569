#include <gtest/gtest.h>

#include "analysis/cluster/recipes/recipes.h"
#include "analysis/cluster/recipes/test_model_rank.h"

namespace steplens::analysis::cluster {
namespace {

// One device with one kernel of 100 ns in Net/Linear.
store::Job GpuJob() {
  StoreBuilder b;
  b.store.info.source = store::Source::kNsys;
  const store::TrackId host = b.ThreadOf("process 5", "main");
  const store::TrackId gpu = b.Process("GPU 0", "GPU 0", "0");
  const store::TrackId stream = b.Thread(gpu, "stream 7");
  b.store.tracks.pid.Set(static_cast<size_t>(stream), b.Text("0"));
  b.Slice(host, 0, 900, "QwenNet", "user_annotation");
  b.Slice(host, 100, 800, "Linear", "user_annotation");
  b.Slice(host, 200, 300, "aten::mm, seq = 1", "user_annotation");
  b.Slice(host, 210, 220, "cudaLaunchKernel", "cuda_runtime", 42);
  b.Slice(stream, 500, 600, "gemm", "kernel", 42);
  return b.Job();
}

// One kernel of 300 ns in the module of that name.
ModelRank NpuRank(std::string_view module) {
  ModelRank rank;
  rank.Range("Module", "QwenNet", 0, 900);
  rank.Range("Module", module, 100, 200);
  rank.Op("aten::mm", 120);
  rank.Kernel(120, "MatMul_k", 1000, 300);
  return rank;
}

Answer Compare(std::string_view npu_module, bool compat, std::string threshold = "0.8") {
  Options options;
  options.compat = compat;
  options.values = {{"baseline_profiling_path", "gpu.sqlite"}, {"fuzzy_threshold", threshold}};
  const auto recipe = Make(CalibrateNpuGpuRecipe(), options);
  recipe->SetBaseline(GpuJob());
  return Ask(*recipe, NpuRank(npu_module));
}

TEST(CalibrateNpuGpu, EqualNestedModulesMatchByRule) {
  const Answer answer = Compare("Linear", false);
  const table::Table& table = answer.tables.at(0).table;
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(table.name(), "CompareProfileReportRank0");
  EXPECT_EQ(Cell(table, "Match Type", 0), "rule");
  EXPECT_EQ(Cell(table, "(GPU) Op Name", 0), "aten::mm");
  EXPECT_EQ(Cell(table, "(NPU/GPU) Module Time Ratio", 0), "3");
  EXPECT_EQ(Cell(table, "(NPU-GPU,us) Module Time Diff", 0), "0.2");
}

TEST(CalibrateNpuGpu, CompatNeverMatchesNestedModulesByRule) {
  const Answer answer = Compare("Linear", true);
  EXPECT_EQ(Cell(answer.tables.at(0).table, "Match Type", 0), "fuzzy");
}

TEST(CalibrateNpuGpu, HonoursTheThreshold) {
  EXPECT_EQ(Cell(Compare("Linear2", false).tables.at(0).table, "Match Type", 0), "fuzzy");
  const Answer strict = Compare("Linear2", false, "0.99");
  ASSERT_EQ(strict.tables.at(0).table.rows(), 2u);
  EXPECT_EQ(Cell(strict.tables.at(0).table, "Match Type", 0), "none");
  EXPECT_EQ(Cell(strict.tables.at(0).table, "Match Type", 1), "none");
}

TEST(CalibrateNpuGpu, RefusesOptionsThatMakeNoSense) {
  const Result<std::unique_ptr<Recipe>> missing = CalibrateNpuGpuRecipe().make({});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::kInvalidArgument);
  Options options;
  options.values = {{"baseline_profiling_path", "x"}, {"fuzzy_threshold", "much"}};
  EXPECT_FALSE(CalibrateNpuGpuRecipe().make(options).ok());
}

}  // namespace
}  // namespace steplens::analysis::cluster
