#include "analysis/launches/launches.h"

#include <gtest/gtest.h>

#include "analysis/testing/store_builder.h"

namespace steplens::analysis {
namespace {

using store::SliceId;
using store::TrackId;

std::vector<Launch> OperatorLaunches(const store::TraceStore& store) {
  std::vector<Launch> launches;
  ForEachOperatorLaunch(store, ClassifyTracks(store),
                        [&](const Launch& launch) { launches.push_back(launch); });
  return launches;
}

std::vector<Launch> ApiLaunches(const store::TraceStore& store) {
  std::vector<Launch> launches;
  ForEachApiLaunch(store, ClassifyTracks(store),
                   [&](const Launch& launch) { launches.push_back(launch); });
  return launches;
}

TEST(ForEachOperatorLaunch, FollowsOpToKernelFlows) {
  StoreBuilder b;
  const TrackId host = b.ThreadOf("Python", "Thread 1");
  const TrackId stream = b.ThreadOf("Ascend Hardware", "Stream 2");
  b.Slice(host, 0, 5, "aten::add", "cpu_op");
  const SliceId first = b.Slice(stream, 10, 20, "Add");
  const SliceId second = b.Slice(stream, 20, 30, "Mul");
  b.Flow("async_npu", host, 0, stream, 20);
  b.Flow("async_npu", host, 0, stream, 10);
  b.Flow("async_npu", host, 0, stream, 15);  // leads to no start
  b.Flow("HostToDevice", host, 3, stream, 10);
  const auto launches = OperatorLaunches(b.store);
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0].device, second);
  EXPECT_EQ(launches[1].device, first);
  EXPECT_EQ(launches[1].host_ns, 0);
  EXPECT_EQ(launches[1].host_track, host);
}

TEST(ForEachOperatorLaunch, WithoutThemTakesHostToDevice) {
  StoreBuilder b;
  const TrackId cann = b.ThreadOf("CANN", "Thread 1");
  const TrackId stream = b.ThreadOf("Ascend Hardware", "Stream 2");
  b.Slice(stream, 10, 20, "Add");
  b.Flow("HostToDevice", cann, 3, stream, 10);
  const auto launches = OperatorLaunches(b.store);
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].host_ns, 3);
}

TEST(ForEachApiLaunch, JoinsEveryTaskOfANodeCall) {
  StoreBuilder b;
  const TrackId cann = b.ThreadOf("CANN", "Thread 1");
  const TrackId stream = b.ThreadOf("Ascend Hardware", "Stream 2");
  b.Slice(cann, 0, 9, "AscendCL@x", "", 1);
  b.Slice(cann, 2, 4, "Node@launch", "", 7);
  b.Slice(stream, 10, 20, "Add", "", 7);
  b.Slice(stream, 20, 21, "MEMCPY_ASYNC", "", 7);
  b.Slice(stream, 30, 31, "Mul", "", 8);
  b.Slice(stream, 40, 41, "EVENT_WAIT", "", 1);
  const auto launches = ApiLaunches(b.store);
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0].host_ns, 2);
  EXPECT_EQ(launches[1].host_ns, 2);
}

TEST(ForEachApiLaunch, JoinsGpuWorkByCorrelationHoweverScattered) {
  StoreBuilder b;
  const TrackId host = b.ThreadOf("python", "thread 1");
  const TrackId stream = b.ThreadOf("python", "stream 7");
  constexpr int64_t kFar = int64_t{1} << 60;
  b.Slice(host, 0, 1, "cudaLaunchKernel", "cuda_runtime", -kFar);
  b.Slice(host, 1, 2, "cuLaunchKernel", "cuda_driver", kFar);
  const SliceId copy = b.Slice(stream, 5, 6, "Memcpy", "gpu_memcpy", -kFar);
  const SliceId kernel = b.Slice(stream, 6, 7, "gemm", "kernel", kFar);
  b.Slice(stream, 7, 8, "Stream Sync", "cuda_sync", kFar);
  b.Slice(stream, 8, 9, "lost", "kernel", 0);
  const auto launches = ApiLaunches(b.store);
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0].device, copy);
  EXPECT_EQ(launches[0].host_ns, 0);
  EXPECT_EQ(launches[1].device, kernel);
  EXPECT_EQ(launches[1].host_ns, 1);
}

}  // namespace
}  // namespace steplens::analysis
