#include "analysis/classify/classify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/testing/store_builder.h"

namespace steplens::analysis {
namespace {

using testing::ElementsAre;

TEST(SliceKinds, KnowsAllDialects) {
  StoreBuilder b;
  const StringId old_name = b.Text("Kernel");
  const StringId new_name = b.Text("kernel");
  const StringId other = b.Text("Trace");
  const SliceKinds kinds(b.store);
  EXPECT_EQ(kinds[old_name], SliceKind::kKernel);
  EXPECT_EQ(kinds[new_name], SliceKind::kKernel);
  EXPECT_EQ(kinds[other], SliceKind::kOther);
  EXPECT_EQ(kinds[StringId::kEmpty], SliceKind::kOther);
}

TEST(ClassifyTracks, GoesByProcessName) {
  StoreBuilder b;
  b.ThreadOf("Python", "Thread 1");
  b.ThreadOf("CANN", "Thread 1");
  b.ThreadOf("Ascend Hardware", "Stream 2");
  const auto hccl = b.Process("HCCL");
  b.Thread(hccl, "Group 0 Communication");
  b.Thread(hccl, "Plane 0");
  b.ThreadOf("Overlap Analysis", "Computing");
  b.ThreadOf("HBM", "x");
  b.ThreadOf("Ascend Hardware", "Step Trace(Model ID:2)");
  using enum TrackKind;
  EXPECT_THAT(ClassifyTracks(b.store),
              ElementsAre(kOther, kHost, kOther, kCann, kOther, kDevice, kOther, kCommGroup,
                          kCommPlane, kOther, kOverlap, kOther, kOther, kOther, kOther));
}

TEST(ClassifyTracks, FindsGpuStreamsByWhatRunsThere) {
  StoreBuilder b;
  const auto host = b.ThreadOf("python3.10", "thread 1");
  const auto stream = b.ThreadOf("python3.10", "stream 7");
  b.Slice(host, 0, 1, "aten::add", "cpu_op");
  b.Slice(stream, 2, 3, "gemm", "kernel");
  const auto kinds = ClassifyTracks(b.store);
  EXPECT_EQ(kinds[static_cast<size_t>(host)], TrackKind::kHost);
  EXPECT_EQ(kinds[static_cast<size_t>(stream)], TrackKind::kDevice);
  EXPECT_EQ(DetectPlatform(b.store, kinds), Platform::kGpu);
}

TEST(DetectPlatform, TellsAscendFromHostOnly) {
  StoreBuilder ascend;
  ascend.ThreadOf("Ascend Hardware", "Stream 2");
  EXPECT_EQ(DetectPlatform(ascend.store, ClassifyTracks(ascend.store)), Platform::kAscend);
  StoreBuilder host;
  host.Slice(host.ThreadOf("python", "thread 1"), 0, 1, "aten::add", "cpu_op");
  EXPECT_EQ(DetectPlatform(host.store, ClassifyTracks(host.store)), Platform::kHostOnly);
}

TEST(IsCommunicationKernel, TakesNcclInAnyCase) {
  EXPECT_TRUE(IsCommunicationKernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL"));
  EXPECT_TRUE(IsCommunicationKernel("NCCLKernel_AllGather"));
  EXPECT_FALSE(IsCommunicationKernel("ncc"));
  EXPECT_FALSE(IsCommunicationKernel("void gemm"));
}

TEST(ParseCannApi, SplitsLayerAndName) {
  const auto api = ParseCannApi("AscendCL@aclrtMemcpyAsync");
  ASSERT_TRUE(api);
  EXPECT_EQ(api->level, "acl");
  EXPECT_EQ(api->name, "aclrtMemcpyAsync");
  EXPECT_FALSE(ParseCannApi("launch"));
  EXPECT_FALSE(ParseCannApi("Dequeue@copy"));
}

TEST(IsTaskKindName, TellsStreamTasksFromOperators) {
  EXPECT_TRUE(IsTaskKindName("MEMCPY_ASYNC"));
  EXPECT_TRUE(IsTaskKindName("Notify Wait"));
  EXPECT_FALSE(IsTaskKindName("aclnnAdd_AddAiCore_Add"));
}

}  // namespace
}  // namespace steplens::analysis
