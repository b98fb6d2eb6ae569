#include "analysis/operators/kernel_statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/testing/store_builder.h"

namespace steplens::analysis {
namespace {

using store::TrackId;
using testing::ElementsAre;

StoreBuilder ThreeKernels() {
  StoreBuilder b;
  b.Kernel("Add_1", "Add", "AI_VECTOR_CORE", 0, 10);
  b.Kernel("Add_2", "Add", "AI_VECTOR_CORE", 10, 25);
  b.Kernel("MatMul_1", "MatMul", "AI_CORE", 30, 105);
  b.Kernel("hcom_allReduce__1", "hcom_allReduce_", "HCCL", 0, 1000);
  return b;
}

TEST(KernelStatistics, ByTypeIsOpStatistic) {
  const table::Table table = KernelStatistics(ThreeKernels().Job(), {});
  EXPECT_THAT(table.Find("OP Type")->texts, ElementsAre("MatMul", "Add"));
  EXPECT_THAT(table.Find("Core Type")->texts, ElementsAre("AI_CORE", "AI_VECTOR_CORE"));
  EXPECT_THAT(table.Find("Count")->ints, ElementsAre(1, 2));
  EXPECT_THAT(table.Find("Total Time(us)")->ints, ElementsAre(75, 25));
  EXPECT_THAT(table.Find("Min Time(us)")->ints, ElementsAre(75, 10));
  EXPECT_THAT(table.Find("Avg Time(us)")->ints, ElementsAre(75, 13));
  EXPECT_THAT(table.Find("Max Time(us)")->ints, ElementsAre(75, 15));
  EXPECT_THAT(table.Find("Ratio(%)")->doubles, ElementsAre(75.0, 25.0));
}

std::vector<std::string> NamesWith(const store::Job& job, CommunicationRows communication) {
  KernelStatisticsOptions options;
  options.by = KernelGrouping::kName;
  options.communication = communication;
  return KernelStatistics(job, options).Find("Name")->texts;
}

TEST(KernelStatistics, CollectivesOfAscendAreListedWhenAskedFor) {
  const store::Job job = ThreeKernels().Job();
  EXPECT_THAT(NamesWith(job, CommunicationRows::kDefault),
              ElementsAre("MatMul_1", "Add_2", "Add_1"));
  EXPECT_THAT(NamesWith(job, CommunicationRows::kInclude),
              ElementsAre("hcom_allReduce__1", "MatMul_1", "Add_2", "Add_1"));
  EXPECT_THAT(NamesWith(job, CommunicationRows::kOnly), ElementsAre("hcom_allReduce__1"));
}

TEST(KernelStatistics, CollectivesThatKernelsDoNotListAreThoseOfTheirGroups) {
  StoreBuilder b;
  b.Slice(b.ThreadOf("Ascend Hardware", "Stream 2"), 0, 10, "aclnnAdd_Add");
  b.CommOp("hcom_allReduce__1", 10, 30);
  EXPECT_THAT(NamesWith(b.Job(), CommunicationRows::kInclude),
              ElementsAre("hcom_allReduce__1", "aclnnAdd_Add"));
}

StoreBuilder GemmAndNccl() {
  StoreBuilder b;
  const TrackId stream = b.ThreadOf("python", "stream 7");
  b.Slice(stream, 20, 30, "gemm", "kernel", 1);
  b.Slice(stream, 30, 60, "ncclKernel_AllReduce", "kernel", 2);
  return b;
}

TEST(KernelStatistics, NcclKernelsCountUnlessTheyAreExcluded) {
  KernelStatisticsOptions options;
  options.by = KernelGrouping::kName;
  const store::Job job = GemmAndNccl().Job();
  const table::Table all = KernelStatistics(job, options);
  EXPECT_THAT(all.Find("Name")->texts, ElementsAre("ncclKernel_AllReduce", "gemm"));
  EXPECT_THAT(all.Find("Ratio(%)")->doubles, ElementsAre(75.0, 25.0));
  options.communication = CommunicationRows::kExclude;
  const table::Table compute = KernelStatistics(job, options);
  EXPECT_THAT(compute.Find("Name")->texts, ElementsAre("gemm"));
  EXPECT_THAT(compute.Find("Ratio(%)")->doubles, ElementsAre(100.0));
}

TEST(LeftOutCommunication, CountsWhatTheTableDoesNotList) {
  const store::Job ascend = ThreeKernels().Job();
  EXPECT_EQ(LeftOutCommunication(ascend, {}).count, 1);
  EXPECT_EQ(LeftOutCommunication(ascend, {}).total_ns, 1000);
  KernelStatisticsOptions options;
  options.communication = CommunicationRows::kInclude;
  EXPECT_EQ(LeftOutCommunication(ascend, options).count, 0);
  const store::Job gpu = GemmAndNccl().Job();
  EXPECT_EQ(LeftOutCommunication(gpu, {}).count, 0);
  options.communication = CommunicationRows::kExclude;
  EXPECT_EQ(LeftOutCommunication(gpu, options).total_ns, 30);
  options.selection.rank = 5;
  EXPECT_EQ(LeftOutCommunication(gpu, options).count, 0);
}

TEST(KernelStatistics, GroupsByNameAndCoreToo) {
  KernelStatisticsOptions options;
  options.by = KernelGrouping::kName;
  EXPECT_EQ(KernelStatistics(ThreeKernels().Job(), options).rows(), 3u);
  options.by = KernelGrouping::kCore;
  EXPECT_THAT(KernelStatistics(ThreeKernels().Job(), options).Find("Core Type")->texts,
              ElementsAre("AI_CORE", "AI_VECTOR_CORE"));
}

TEST(KernelStatistics, EqualTotalsAreOrderedByName) {
  StoreBuilder b;
  b.Kernel("b", "B", "AI_CORE", 0, 10);
  b.Kernel("a", "A", "AI_CORE", 0, 10);
  EXPECT_THAT(KernelStatistics(b.Job(), {}).Find("OP Type")->texts, ElementsAre("A", "B"));
}

TEST(KernelStatistics, RanksAreMergedOrKeptApart) {
  store::Job job = ThreeKernels().Job();
  job.ranks.push_back(std::move(ThreeKernels().store));
  job.ranks[1].info.rank = 1;
  KernelStatisticsOptions options;
  EXPECT_THAT(KernelStatistics(job, options).Find("Count")->ints, ElementsAre(2, 4));
  options.per_rank = true;
  const table::Table table = KernelStatistics(job, options);
  EXPECT_THAT(table.Find("Rank")->ints, ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(table.Find("Ratio(%)")->doubles, ElementsAre(75.0, 25.0, 75.0, 25.0));
}

TEST(KernelStatistics, StepIsTheOneWrittenElseTheRangeItStartsIn) {
  StoreBuilder b = ThreeKernels();
  b.store.kernels.step.Set(0, 7);
  b.Step(8, 20, 40);
  KernelStatisticsOptions options;
  options.by = KernelGrouping::kName;
  options.selection.step = 7;
  const store::Job job = b.Job();
  EXPECT_THAT(KernelStatistics(job, options).Find("Name")->texts, ElementsAre("Add_1"));
  options.selection.step = 8;
  EXPECT_THAT(KernelStatistics(job, options).Find("Name")->texts, ElementsAre("MatMul_1"));
}

TEST(KernelStatistics, GpuShapesComeFromTheLaunchingOperator) {
  StoreBuilder b;
  const TrackId host = b.ThreadOf("python", "thread 1");
  const TrackId stream = b.ThreadOf("python", "stream 7");
  const auto op = b.Slice(host, 0, 10, "aten::mm", "cpu_op");
  b.Shapes(op, "[[2, 3], [3, 4]]");
  b.Slice(host, 2, 4, "cudaLaunchKernel", "cuda_runtime", 1);
  b.Slice(stream, 20, 30, "gemm", "kernel", 1);
  b.Slice(stream, 30, 35, "ncclKernel", "kernel", 2);
  b.Slice(stream, 40, 42, "Memset", "gpu_memset", 3);
  KernelStatisticsOptions options;
  options.by = KernelGrouping::kShape;
  const table::Table table = KernelStatistics(b.Job(), options);
  EXPECT_THAT(table.Find("Name")->texts, ElementsAre("gemm", "ncclKernel", "Memset"));
  EXPECT_THAT(table.Find("Input Shapes")->texts, ElementsAre("[[2, 3], [3, 4]]", "", ""));
  EXPECT_THAT(table.Find("Core Type")->texts, ElementsAre("kernel", "kernel", "gpu_memset"));
}

TEST(KernelStatistics, TraceAloneCountsOperatorTasks) {
  StoreBuilder b;
  const TrackId stream = b.ThreadOf("Ascend Hardware", "Stream 2");
  b.Slice(stream, 0, 10, "aclnnAdd_Add");
  b.Slice(stream, 10, 12, "MEMCPY_ASYNC");
  KernelStatisticsOptions options;
  options.by = KernelGrouping::kName;
  EXPECT_THAT(KernelStatistics(b.Job(), options).Find("Name")->texts, ElementsAre("aclnnAdd_Add"));
}

}  // namespace
}  // namespace steplens::analysis
