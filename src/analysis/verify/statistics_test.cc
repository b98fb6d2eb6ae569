#include <limits>

#include "analysis/verify/test_store.h"

namespace steplens::analysis::verify {
namespace {

TestStore TwoMatMuls() {
  TestStore s;
  s.Kernel("MatMul", "MatMul", "AI_CORE", 0, 1000);
  s.Kernel("MatMul", "MatMul", "AI_CORE", 2000, 4000);
  s.Kernel("hcom_allReduce_", "hcom_allReduce_", "HCCL", 5000, 14000);
  s.store.op_statistics.Append({.type = s.Text("MatMul"),
                                .core = s.Text("AI_CORE"),
                                .count = 2,
                                .total_us = 3,
                                .min_us = 1,
                                .avg_us = 1.5,
                                .max_us = 2,
                                .ratio_percent = 100});
  return s;
}

TEST(VerifyOpStatistic, EqualsTheComputeKernels) {
  ExpectHolds(TwoMatMuls().Run("6"), "7 values; 1 rows of op_statistic");
}

TEST(VerifyOpStatistic, ReportsAWrongCount) {
  TestStore s = TwoMatMuls();
  s.store.op_statistics.count.Set(0, 3);
  ExpectBroken(s.Run("6"), "1 of 7 values; 1 rows of op_statistic",
               "op_statistic row 1 (MatMul, AI_CORE): Count is 3, expected 2");
}

TEST(VerifyOpStatistic, ReportsAWrongTotalBeyondOneNsPerKernel) {
  TestStore s = TwoMatMuls();
  s.store.op_statistics.total_us.Set(0, 3.003);
  ExpectBroken(s.Run("6"), "1 of 7 values, largest deviation 0.003; 1 rows of op_statistic",
               "op_statistic row 1 (MatMul, AI_CORE): total time is 3.003, expected 3");
}

TEST(VerifyOpStatistic, ReportsAKernelTypeWithoutARow) {
  TestStore s = TwoMatMuls();
  s.Kernel("Add", "Add", "AI_VECTOR_CORE", 20000, 21000);
  ExpectBroken(
      s.Run("6"), "1 of 8 values; 1 rows of op_statistic",
      "kernel_details: 1 kernels of type Add, core AI_VECTOR_CORE have no op_statistic row");
}

TEST(VerifyOpStatistic, ReportsARowWithoutKernelsAndItsRatio) {
  TestStore s = TwoMatMuls();
  s.store.op_statistics.Append({.type = s.Text("Add"),
                                .core = s.Text("AI_CORE"),
                                .count = 1,
                                .total_us = 3,
                                .ratio_percent = 0});
  const CheckResult result = s.Run("6");
  EXPECT_EQ(result.state, CheckState::kBroken);
  ASSERT_EQ(result.offending.size(), 3u);
  EXPECT_EQ(result.offending[0],
            "op_statistic row 2 (Add, AI_CORE): no such kernel in kernel_details");
  EXPECT_EQ(result.offending[1], "op_statistic row 1: Ratio(%) is 100, expected 50");
  EXPECT_EQ(result.offending[2], "op_statistic row 2: Ratio(%) is 0, expected 50");
}

TEST(VerifyOpStatistic, ReportsRatiosThatDoNotAddUp) {
  TestStore s = TwoMatMuls();
  s.store.op_statistics.ratio_percent.Set(0, 98);
  EXPECT_EQ(s.Run("6").offending.back(), "op_statistic: sum of Ratio(%) is 98, expected 100");
}

TEST(VerifyOpStatistic, LeavesOutWhatIsNotKnown) {
  TestStore s = TwoMatMuls();
  s.store.op_statistics.count.Set(0, store::kNone);
  s.store.op_statistics.max_us.Set(0, std::numeric_limits<double>::quiet_NaN());
  ExpectHolds(s.Run("6"), "5 values; 1 rows of op_statistic");
}

TEST(VerifyOpStatistic, ComparesOnlyTheCountWhereADurationIsNotKnown) {
  TestStore s = TwoMatMuls();
  s.store.kernels.dur_ns.Set(1, store::kNone);
  ExpectHolds(s.Run("6"), "3 values; 1 rows of op_statistic");
}

TEST(VerifyOpStatistic, NeedsTheFile) {
  TestStore s;
  s.Kernel("MatMul", "MatMul", "AI_CORE", 0, 1000);
  ExpectNotApplicable(s.Run("6"), "no op_statistic");
}

TestStore TwoLaunches() {
  TestStore s;
  const store::TrackId thread = s.ThreadOf("CANN", "Thread 1");
  s.Slice(thread, 0, 1000, "Node@launch");
  s.Slice(thread, 5000, 8000, "Node@launch");
  s.store.api_statistics.Append({.level = s.Text("node"),
                                 .name = s.Text("launch"),
                                 .total_us = 4,
                                 .count = 2,
                                 .avg_us = 2,
                                 .min_us = 1,
                                 .max_us = 3,
                                 .variance = 1});
  return s;
}

TEST(VerifyApiStatistic, EqualsTheCannSlices) {
  ExpectHolds(TwoLaunches().Run("7"), "6 values; 1 rows of api_statistic");
}

TEST(VerifyApiStatistic, TakesThePopulationVariance) {
  TestStore s = TwoLaunches();
  s.store.api_statistics.variance.Set(0, 2);
  ExpectBroken(s.Run("7"), "1 of 6 values, largest deviation 1; 1 rows of api_statistic",
               "api_statistic row 1 (node launch): Variance is 2, expected 1");
}

TEST(VerifyApiStatistic, ReportsASliceWithoutARow) {
  TestStore s = TwoLaunches();
  s.Slice(store::TrackId{1}, 20000, 21000, "AscendCL@aclrtMalloc");
  ExpectBroken(s.Run("7"), "1 of 7 values; 1 rows of api_statistic",
               "trace: 1 slices of acl aclrtMalloc have no api_statistic row");
}

TEST(VerifyApiStatistic, ReportsARowWithoutSlices) {
  TestStore s = TwoLaunches();
  s.store.api_statistics.Append({.level = s.Text("acl"), .name = s.Text("launch"), .count = 1});
  ExpectBroken(s.Run("7"), "1 of 7 values; 2 rows of api_statistic",
               "api_statistic row 2 (acl launch): no such slice in the trace");
}

TEST(VerifyApiStatistic, NeedsCannSlices) {
  TestStore s;
  s.store.api_statistics.Append({.level = s.Text("acl"), .name = s.Text("launch"), .count = 1});
  ExpectNotApplicable(s.Run("7"), "no CANN slices in the trace");
}

}  // namespace
}  // namespace steplens::analysis::verify
