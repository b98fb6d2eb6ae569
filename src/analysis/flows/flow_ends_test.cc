#include "analysis/flows/flow_ends.h"

#include <gtest/gtest.h>

#include "analysis/testing/store_builder.h"

namespace steplens::analysis {
namespace {

using store::kNoSlice;
using store::SliceId;
using store::TrackId;

FlowEnds Resolve(const store::TraceStore& store) {
  const TrackIndex index = BuildTrackIndex(store);
  return ResolveFlowEnds(store, index, ComputeNesting(store, index));
}

TEST(ResolveFlowEnds, PrefersTheSliceThatStartsThere) {
  StoreBuilder b;
  const TrackId host = b.ThreadOf("Python", "Thread 1");
  const TrackId stream = b.ThreadOf("Ascend Hardware", "Stream 2");
  b.Slice(host, 0, 100, "outer");
  const SliceId op = b.Slice(host, 10, 20, "op");
  const SliceId kernel = b.Slice(stream, 30, 40, "kernel");
  b.Flow("async_npu", host, 10, stream, 30);
  const FlowEnds ends = Resolve(b.store);
  EXPECT_EQ(ends.from_slice[0], op);
  EXPECT_EQ(ends.to_slice[0], kernel);
}

TEST(ResolveFlowEnds, OfSlicesThatStartTogetherTheInnermostIsTaken) {
  StoreBuilder b;
  const TrackId host = b.ThreadOf("Python", "Thread 1");
  const SliceId inner = b.Slice(host, 10, 20, "inner");
  b.Slice(host, 10, 90, "outer");
  b.Flow("fwdbwd", host, 10, host, 10);
  EXPECT_EQ(Resolve(b.store).from_slice[0], inner);
}

TEST(ResolveFlowEnds, FallsBackToTheInnermostSliceAround) {
  StoreBuilder b;
  const TrackId cann = b.ThreadOf("CANN", "Thread 1");
  const SliceId outer = b.Slice(cann, 0, 100, "AscendCL@x");
  const SliceId launch = b.Slice(cann, 10, 20, "Node@launch");
  b.Flow("HostToDevice", cann, 15, cann, 25);
  const FlowEnds ends = Resolve(b.store);
  EXPECT_EQ(ends.from_slice[0], launch);
  EXPECT_EQ(ends.to_slice[0], outer);
}

TEST(ResolveFlowEnds, EndsInTheAirHaveNoSlice) {
  StoreBuilder b;
  const TrackId empty = b.ThreadOf("", "Thread 1");
  const TrackId stream = b.ThreadOf("Ascend Hardware", "Stream 2");
  b.Slice(stream, 30, 40, "kernel");
  b.Flow("HostToDevice", empty, 5, stream, 40);
  b.Flow("HostToDevice", store::kNoTrack, 5, stream, 10);
  const FlowEnds ends = Resolve(b.store);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(ends.from_slice[i], kNoSlice);
    EXPECT_EQ(ends.to_slice[i], kNoSlice);
  }
}

}  // namespace
}  // namespace steplens::analysis
