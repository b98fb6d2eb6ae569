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

// The kind of a track that holds one event of the category, beside a host.
Platform PlatformWith(std::string_view label, std::string_view thread, std::string_view category,
                      int64_t device = store::kNone) {
  StoreBuilder b;
  b.Slice(b.ThreadOf("python", "thread 1"), 0, 1, "aten::add", "cpu_op");
  const auto track = b.Thread(b.Process("python", label), thread);
  b.store.tracks.device.Set(static_cast<size_t>(track), device);
  b.Slice(track, 2, 3, "x", category);
  return DetectPlatform(b.store, ClassifyTracks(b.store));
}

TEST(DetectPlatform, DeviceOfUnknownEventsIsNotTheHost) {
  EXPECT_EQ(PlatformWith("MTIA 0", "", "mtia_mystery"), Platform::kUnknownDevice);
  EXPECT_EQ(PlatformWith("", "stream 7 ", "mystery"), Platform::kUnknownDevice);
  EXPECT_EQ(PlatformWith("", "", "mystery", 0), Platform::kUnknownDevice);
  EXPECT_EQ(PlatformWith("", "", "cuda_profiler_range"), Platform::kUnknownDevice);
  EXPECT_EQ(PlatformWith("XPU 1", "", "collective_comm"), Platform::kGpu);
}

TEST(DetectPlatform, OtherTracksOfTheHostAreNoDevice) {
  EXPECT_EQ(PlatformWith("CPU", "thread 2", "mystery"), Platform::kHostOnly);
  EXPECT_EQ(PlatformWith("", "PyTorch Profiler", "Trace"), Platform::kHostOnly);
  EXPECT_EQ(PlatformWith("GPU 0", "stream 7", "cuda_runtime"), Platform::kHostOnly);
  EXPECT_EQ(PlatformWith("", "thread 2", "collective_comm"), Platform::kHostOnly);
}

TEST(ClassifyTracks, UnknownEventsBesideKnownOnesChangeNothing) {
  StoreBuilder b;
  const auto device = b.Process("python", "GPU 0");
  b.Slice(b.Thread(device, "stream 7"), 0, 1, "gemm", "kernel");
  const auto waits = b.Thread(device, "Device 0");
  b.Slice(waits, 0, 1, "Context Sync", "cuda_sync");
  const auto kinds = ClassifyTracks(b.store);
  EXPECT_EQ(kinds[static_cast<size_t>(waits)], TrackKind::kOther);
  EXPECT_EQ(DetectPlatform(b.store, kinds), Platform::kGpu);
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
