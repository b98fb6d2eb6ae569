#include "analysis/classify/device_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/testing/store_builder.h"

namespace steplens::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(CollectDeviceWork, AscendSplitsKernelsByCore) {
  StoreBuilder b;
  b.Kernel("Add", "Add", "AI_CORE", 20, 30);
  b.Kernel("Mul", "Mul", "N/A", 0, 10);
  b.Kernel("hcom_receive__1", "hcom_receive_", "HCCL", 5, 25);
  b.Kernel("AllReduceAivKernel", "x", "AI_VECTOR_CORE", 6, 7);
  const auto works = CollectDeviceWork(b.store);
  ASSERT_EQ(works.size(), 1u);
  EXPECT_THAT(works[0].compute, ElementsAre(Interval{0, 10}, Interval{20, 30}));
  EXPECT_THAT(works[0].communication, ElementsAre(Interval{5, 25}));
  EXPECT_THAT(works[0].receive, ElementsAre(Interval{5, 25}));
}

TEST(CollectDeviceWork, CommOpsGoBeforeCollectiveKernels) {
  StoreBuilder b;
  b.Kernel("hcom_allReduce__1", "hcom_allReduce_", "HCCL", 5, 25);
  b.CommOp("hcom_allReduce__1", 5, 26);
  EXPECT_THAT(CollectDeviceWork(b.store)[0].communication, ElementsAre(Interval{5, 26}));
}

TEST(CollectDeviceWork, TraceAloneUsesOverlapAnalysis) {
  StoreBuilder b;
  const auto overlap = b.ThreadOf("Overlap Analysis", "Computing");
  b.Slice(overlap, 0, 10, "Computing");
  b.Slice(overlap, 10, 15, "Free");
  b.Slice(overlap, 15, 20, "Communication");
  const auto works = CollectDeviceWork(b.store);
  ASSERT_EQ(works.size(), 1u);
  EXPECT_THAT(works[0].compute, ElementsAre(Interval{0, 10}));
  EXPECT_THAT(works[0].communication, ElementsAre(Interval{15, 20}));
  EXPECT_EQ(works[0].reference_range, (Interval{0, 20}));
}

TEST(CollectDeviceWork, HardwareTasksServeWhereNothingElseIsKnown) {
  StoreBuilder b;
  const auto stream = b.ThreadOf("Ascend Hardware", "Stream 2");
  b.Slice(stream, 0, 10, "aclnnAdd_Add");
  b.Slice(stream, 10, 11, "EVENT_WAIT");
  b.Slice(stream, 0, 90, "forward_step", "MSTX_EX");
  const auto group = b.ThreadOf("Communication", "Group x Communication");
  b.Slice(group, 3, 5, "hcom_allReduce__1");
  const auto works = CollectDeviceWork(b.store);
  EXPECT_THAT(works[0].compute, ElementsAre(Interval{0, 10}));
  EXPECT_THAT(works[0].communication, ElementsAre(Interval{3, 5}));
}

TEST(CollectDeviceWork, GpuHasComputeCommunicationAndMemory) {
  StoreBuilder b;
  const auto stream = b.Thread(b.Process("python", "GPU 3", "3"), "stream 7");
  b.Slice(stream, 0, 10, "gemm", "kernel");
  b.Kernel("gemm", "", "", 0, 10, 3);
  b.Kernel("ncclKernel_AllReduce", "", "", 5, 20, 3);
  b.Slice(stream, 20, 22, "Memcpy HtoD", "gpu_memcpy");
  const auto works = CollectDeviceWork(b.store);
  ASSERT_EQ(works.size(), 1u);
  EXPECT_EQ(works[0].device, 3);
  EXPECT_THAT(works[0].compute, ElementsAre(Interval{0, 10}));
  EXPECT_THAT(works[0].communication, ElementsAre(Interval{5, 20}));
  EXPECT_THAT(works[0].memory, ElementsAre(Interval{20, 22}));
}

TEST(CollectDeviceWork, HostOperatorsStandInWhereThereIsNoDevice) {
  StoreBuilder b;
  const auto host = b.ThreadOf("python", "thread 1");
  b.Slice(host, 0, 90, "ProfilerStep#3", "cpu_op");
  b.Slice(host, 0, 10, "aten::add", "cpu_op");
  b.CommOp("gloo:all_reduce", 10, 20);
  const auto works = CollectDeviceWork(b.store);
  EXPECT_THAT(works[0].compute, ElementsAre(Interval{0, 10}));
  EXPECT_THAT(works[0].communication, ElementsAre(Interval{10, 20}));
}

TEST(CollectDeviceWork, DevicesAreKeptApartAndUnknownJoinsTheFirst) {
  StoreBuilder b;
  b.Kernel("a", "A", "AI_CORE", 0, 1, 5);
  b.Kernel("b", "B", "AI_CORE", 2, 3, 4);
  b.CommOp("hcom_allReduce__1", 6, 7);
  const auto works = CollectDeviceWork(b.store);
  ASSERT_EQ(works.size(), 2u);
  EXPECT_EQ(works[0].device, 4);
  EXPECT_THAT(works[0].communication, ElementsAre(Interval{6, 7}));
  EXPECT_EQ(works[1].device, 5);
  EXPECT_THAT(works[1].communication, IsEmpty());
}

TEST(CollectDeviceWork, RowsWithoutUsableTimesAreLeftOut) {
  StoreBuilder b;
  b.store.kernels.Append({.begin_ns = store::kNone, .dur_ns = 5});
  b.store.kernels.Append({.begin_ns = std::numeric_limits<int64_t>::max() - 1, .dur_ns = 5});
  b.Kernel("a", "A", "AI_CORE", 0, 1);
  EXPECT_THAT(CollectDeviceWork(b.store)[0].compute, ElementsAre(Interval{0, 1}));
  EXPECT_THAT(CollectDeviceWork(store::TraceStore{}), IsEmpty());
}

TEST(CollectDeviceWork, MtiaRecordsCopiesAmongItsKernels) {
  StoreBuilder b;
  const auto stream = b.Thread(b.Process("python", "MTIA 0", "0"), "stream 3");
  for (const auto& [name, begin_ns] :
       {std::pair("dma_request", 0), std::pair("fused_mm", 20), std::pair("hcom_allReduce_", 40)}) {
    b.Slice(stream, begin_ns, begin_ns + 10, name, "mtia_ccp_events");
    b.Kernel(name, "", "mtia_ccp_events", begin_ns, begin_ns + 10, 0);
  }
  const auto works = CollectDeviceWork(b.store);
  ASSERT_EQ(works.size(), 1u);
  EXPECT_THAT(works[0].memory, ElementsAre(Interval{0, 10}));
  EXPECT_THAT(works[0].compute, ElementsAre(Interval{20, 30}));
  EXPECT_THAT(works[0].communication, ElementsAre(Interval{40, 50}));
}

TEST(CollectDeviceWork, CollectivesCountWhereTheyRanOnTheDevice) {
  StoreBuilder b;
  b.Slice(b.Thread(b.Process("python", "HPU 0", "0"), "stream 3"), 5, 9, "all", "collective_comm");
  b.Slice(b.ThreadOf("python", "thread 1"), 0, 99, "all", "collective_comm");
  const auto works = CollectDeviceWork(b.store);
  ASSERT_EQ(works.size(), 1u);
  EXPECT_THAT(works[0].communication, ElementsAre(Interval{5, 9}));
}

TEST(CollectDeviceWork, HostIsNotTheDeviceThatNobodyKnows) {
  StoreBuilder b;
  b.Slice(b.ThreadOf("python", "thread 1"), 0, 100, "aten::add", "cpu_op");
  b.Slice(b.Thread(b.Process("python", "GPU 0"), ""), 0, 50, "gemm", "cuda_profiler_range");
  EXPECT_THAT(CollectDeviceWork(b.store), IsEmpty());
}

}  // namespace
}  // namespace steplens::analysis
