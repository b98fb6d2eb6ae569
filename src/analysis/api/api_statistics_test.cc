#include "analysis/api/api_statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/testing/store_builder.h"

namespace steplens::analysis {
namespace {

using store::TrackId;
using testing::ElementsAre;

StoreBuilder CannCalls() {
  StoreBuilder b;
  const TrackId cann = b.ThreadOf("CANN", "Thread 1");
  b.Slice(cann, 0, 2000, "Node@launch");
  b.Slice(cann, 5000, 9000, "Node@launch");
  b.Slice(cann, 10000, 11000, "AscendCL@launch");
  b.Slice(cann, 20000, 99000, "not an api");
  b.Slice(b.ThreadOf("Python", "Thread 1"), 0, 99, "Node@launch");
  return b;
}

TEST(ApiStatistics, GroupsCannCallsByLevelAndName) {
  const table::Table table = ApiStatistics(CannCalls().Job(), {});
  EXPECT_THAT(table.Find("Level")->texts, ElementsAre("node", "acl"));
  EXPECT_THAT(table.Find("API Name")->texts, ElementsAre("launch", "launch"));
  EXPECT_THAT(table.Find("Time(us)")->ints, ElementsAre(6000, 1000));
  EXPECT_THAT(table.Find("Count")->ints, ElementsAre(2, 1));
  EXPECT_THAT(table.Find("Avg(us)")->ints, ElementsAre(3000, 1000));
  EXPECT_THAT(table.Find("Min(us)")->ints, ElementsAre(2000, 1000));
  EXPECT_THAT(table.Find("Max(us)")->ints, ElementsAre(4000, 1000));
  EXPECT_THAT(table.Find("Variance")->doubles, ElementsAre(1.0, 0.0));
}

TEST(ApiStatistics, StepHoldsTheCallsThatStartInItsHostRange) {
  StoreBuilder b = CannCalls();
  b.Step(4, 4000, 12000);
  ApiStatisticsOptions options;
  options.selection.step = 4;
  EXPECT_THAT(ApiStatistics(b.Job(), options).Find("Time(us)")->ints, ElementsAre(4000, 1000));
}

TEST(ApiStatistics, GpuHasRuntimeAndDriver) {
  StoreBuilder b;
  const TrackId host = b.ThreadOf("python", "thread 1");
  b.Slice(host, 0, 10, "cudaLaunchKernel", "cuda_runtime");
  b.Slice(host, 10, 15, "cuLaunchKernel", "cuda_driver");
  const table::Table table = ApiStatistics(b.Job(), {});
  EXPECT_THAT(table.Find("Level")->texts, ElementsAre("runtime", "driver"));
}

TEST(ApiStatistics, WithoutATimelineTheFileIsShown) {
  StoreBuilder b;
  b.store.api_statistics.Append({.level = b.Text("acl"),
                                 .name = b.Text("aclrtMalloc"),
                                 .total_us = 6,
                                 .count = 2,
                                 .avg_us = 3,
                                 .min_us = 2,
                                 .max_us = 4,
                                 .variance = 1});
  const store::Job job = b.Job();
  const table::Table table = ApiStatistics(job, {});
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(table.Find("API Name")->texts[0], "aclrtMalloc");
  EXPECT_EQ(table.Find("Time(us)")->ints[0], 6000);
  EXPECT_EQ(table.Find("Avg(us)")->ints[0], 3000);
  EXPECT_DOUBLE_EQ(table.Find("Variance")->doubles[0], 1);
  ApiStatisticsOptions options;
  options.selection.step = 7;  // the file knows no steps
  EXPECT_EQ(ApiStatistics(job, options).rows(), 0u);
}

TEST(ApiStatistics, RanksAreMergedOrKeptApart) {
  store::Job job = CannCalls().Job();
  job.ranks.push_back(std::move(CannCalls().store));
  job.ranks[1].info.rank = 1;
  EXPECT_THAT(ApiStatistics(job, {}).Find("Count")->ints, ElementsAre(4, 2));
  ApiStatisticsOptions options;
  options.per_rank = true;
  EXPECT_THAT(ApiStatistics(job, options).Find("Rank")->ints, ElementsAre(0, 0, 1, 1));
}

}  // namespace
}  // namespace steplens::analysis
