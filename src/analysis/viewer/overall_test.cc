#include <gtest/gtest.h>

#include "analysis/kernels/kernel_paths.h"
#include "analysis/viewer/test_rank.h"

namespace steplens::analysis::viewer {
namespace {

// A capture with the times of the matrix unit, one a kernel.
struct MeasuredRank : TestRank {
  void Measured(std::string_view name, std::string_view type, int64_t begin_ns, int64_t end_ns,
                double cube_us) {
    Task(name, type, begin_ns, end_ns);
    if (store.kernel_metrics.empty()) {
      store.kernel_metrics.emplace_back();
      store.kernel_metrics[0].name = "aic_mac_time(us)";
    }
    store.kernel_metrics[0].numbers.Append(cube_us);
  }
};

std::string PathOf(std::string_view name, std::string_view type, double cube_us,
                   std::string_view op = "") {
  MeasuredRank rank;
  if (!op.empty()) {
    rank.Slice(rank.host, 0, 50, op, "cpu_op");
    rank.Flow("async_npu", rank.host, 10, rank.stream, 100);
  }
  rank.Measured(name, type, 100, 200, cube_us);
  return JoinPath(ClassifyKernels(rank.store).of_kernel.at(0).Levels());
}

TEST(ClassifyKernels, FollowsTheRulesInOrder) {
  EXPECT_EQ(PathOf("x", "PagedAttentionV2", 1), "Paged Attention");
  EXPECT_EQ(PathOf("aclnnInplaceCopy_TensorMoveAiCore_TensorMove", "TensorMove", 0),
            "SDMA > Tensor Move");
  EXPECT_EQ(PathOf("x", "Add", 0, "aten::npu_fusion_attention"),
            "Flash Attention > Forward > Vector");
  EXPECT_EQ(PathOf("x", "Add", 1, "FlashAttnBackward flashattn"),
            "Flash Attention > Backward > Cube");
  EXPECT_EQ(PathOf("x", "Add", 0, "aten::addmm"), "Matmul > Vector");
  EXPECT_EQ(PathOf("x", "TransData", 0, "aten::conv2d"), "Conv > Forward > Vector");
  EXPECT_EQ(PathOf("x", "Conv2D", 1, "aten::convolution_backward"), "Conv > Backward > Cube");
  EXPECT_EQ(PathOf("x", "FlashAttentionScoreGrad", 0), "Flash Attention > Backward > Cube");
  EXPECT_EQ(PathOf("x", "Conv2D", 0), "Conv > Forward > Cube");
  EXPECT_EQ(PathOf("x", "BatchMatMul", 0), "Matmul > Cube");
  EXPECT_EQ(PathOf("x", "Unknown", 2), "Other Cube");
  EXPECT_EQ(PathOf("x", "TransData", 0), "Other Vector > Trans");
  EXPECT_EQ(PathOf("x", "Add", 0), "Other Vector > No Trans");
}

TEST(ClassifyKernels, KnowsNothingWithoutMeasuredUnits) {
  TestRank rank;
  rank.Task("x", "Add", 0, 10);
  EXPECT_FALSE(ClassifyKernels(rank.store).is_known);
}

double Cell(const table::Table& table, const char* column, std::string_view path) {
  for (size_t i = 0; i < table.rows(); ++i) {
    if (table.Find("path")->texts[i] == path) return table.Find(column)->doubles[i];
  }
  return -1;
}

TEST(Overall, PartsAddUpToTheWhole) {
  MeasuredRank rank;
  rank.Measured("a", "MatMulV2", 0, 40000, 1);
  rank.Measured("b", "Add", 40000, 60000, 0);
  rank.Comm("hcom_allReduce__001_0_1", 50000, 90000);
  rank.Slice(rank.stream, 100000, 110000, "EVENT_WAIT");
  const store::Job job = JobOf(rank);
  const Result<MetricAnswer> answer = ComputeMetric("overall", {}, job);
  ASSERT_TRUE(answer.ok());
  const table::Table& table = answer->tables.at(0);
  EXPECT_EQ(Cell(table, "total_us", "Computing Time"), 60);
  EXPECT_EQ(Cell(table, "total_us", "Communication(Not Overlapped) Time"), 30);
  EXPECT_EQ(Cell(table, "total_us", "Free Time"), 20);
  EXPECT_EQ(Cell(table, "total_us", "E2E Time"), 110);
  EXPECT_EQ(Cell(table, "ratio", "E2E Time"), 100);
  EXPECT_EQ(Cell(table, "total_us", "Computing Time > Matmul"), 40);
  EXPECT_EQ(Cell(table, "total_us", "Communication(Not Overlapped) Time > Group 0 Communication"),
            30);
}

// Rank 0 waits until rank 1 arrives.
TEST(Overall, WaitAndTransitOfAGroupComeFromArrivalsWithoutResults) {
  TestRank early(0);
  TestRank late(1);
  early.Comm("hcom_allReduce__001_7_1", 0, 100000);
  late.Comm("hcom_allReduce__001_0_1", 70000, 100000);
  const store::Job job = JobOf(early, late);
  const Result<MetricAnswer> answer = ComputeMetric("overall", {}, job);
  ASSERT_TRUE(answer.ok());
  const char* group = "Communication(Not Overlapped) Time > Group 0 Communication";
  EXPECT_EQ(Cell(answer->tables[0], "wait_us", group), 70);
  EXPECT_EQ(Cell(answer->tables[0], "transit_us", group), 30);
}

// Results count before arrivals; only what no computing covers is shown: 10 of 20 us idle.
TEST(Overall, PartsOfAGroupAreThoseOfItsResultsThatNothingCovers) {
  TestRank rank(0);
  rank.Task("a", "MatMul", 0, 10000);
  rank.Comm("hcom_allReduce__001_0_1", 0, 100000);
  rank.store.comm_times.Append({.op_name = rank.Text("hcom_allReduce__001_0_1"),
                                .start_us = 0,
                                .elapse_ms = 0.1,
                                .transit_ms = 0.03,
                                .wait_ms = 0.05,
                                .synchronization_ms = 0});
  const store::Job job = JobOf(rank);
  const Result<MetricAnswer> answer = ComputeMetric("overall", {}, job);
  ASSERT_TRUE(answer.ok());
  const char* group = "Communication(Not Overlapped) Time > Group 0 Communication";
  EXPECT_EQ(Cell(answer->tables[0], "total_us", group), 90);
  EXPECT_EQ(Cell(answer->tables[0], "idle_us", group), 10);
  EXPECT_EQ(Cell(answer->tables[0], "wait_us", group), 50);
  EXPECT_EQ(Cell(answer->tables[0], "transit_us", group), 30);
}

}  // namespace
}  // namespace steplens::analysis::viewer
