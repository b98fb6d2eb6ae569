#include "analysis/facts/rank_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "analysis/testing/store_builder.h"

namespace steplens::analysis {
namespace {

using store::TrackId;
using testing::ElementsAre;

// A step with an operator, its kernel and the arrow between them.
StoreBuilder OneKernel() {
  StoreBuilder b;
  const TrackId host = b.ThreadOf("Python", "Thread 1");
  const TrackId stream = b.Thread(b.Process("Ascend Hardware", "NPU 3"), "Stream 2");
  b.Step(7, 0, 100);
  b.Slice(host, 10, 20, "aten::add", "cpu_op");
  b.Slice(host, 12, 18, "inner", "cpu_op");
  b.Slice(stream, 30, 40, "Add");
  b.Flow("async_npu", host, 12, stream, 30);
  b.Kernel("Add", "Add", "AI_CORE", 30, 40, 3);
  return b;
}

TEST(RankView, HasTheFactsOfItsStore) {
  const StoreBuilder b = OneKernel();
  const RankView view(b.store);
  EXPECT_EQ(&view.store(), &b.store);
  EXPECT_EQ(view.tracks()[1], TrackKind::kHost);
  EXPECT_EQ(view.tracks()[3], TrackKind::kDevice);
  EXPECT_EQ(view.platform(), Platform::kAscend);
  EXPECT_EQ(view.slice_kinds()[b.store.slices.category[0]], SliceKind::kHostOp);
  ASSERT_EQ(view.steps().size(), 1u);
  EXPECT_EQ(view.steps()[0].begin_ns, 30);
  ASSERT_EQ(view.device_work().size(), 1u);
  EXPECT_EQ(view.device_work()[0].device, 3);
  EXPECT_THAT(view.kernel_steps(), ElementsAre(7));
  EXPECT_THAT(view.kernel_slices().slice_of(), ElementsAre(store::SliceId{2}));
  EXPECT_EQ(view.track_index().slices(TrackId{1}).size(), 2u);
  EXPECT_EQ(view.nesting().parent[1], store::SliceId{0});
  EXPECT_EQ(view.flow_ends().from_slice[0], store::SliceId{1});
  EXPECT_EQ(view.flow_ends().to_slice[0], store::SliceId{2});
}

TEST(RankView, KnowsTheCallThatLaunchedASlice) {
  StoreBuilder b;
  const TrackId host = b.ThreadOf("python", "thread 1");
  const store::SliceId call = b.Slice(host, 10, 12, "cudaLaunchKernel", "cuda_runtime", 7);
  b.Slice(b.ThreadOf("python", "stream 7"), 20, 30, "gemm", "kernel", 7);
  EXPECT_THAT(RankView(b.store).launch_calls(), ElementsAre(store::kNoSlice, call));
}

TEST(RankView, TheStepsThatTheInputSaysWin) {
  StoreBuilder b = OneKernel();
  b.store.kernels.step.Set(0, 50);
  EXPECT_THAT(RankView(b.store).kernel_steps(), ElementsAre(50));
}

TEST(RankView, CopiesShareTheirFacts) {
  const StoreBuilder b = OneKernel();
  const RankView view(b.store);
  const RankView copy = view;
  EXPECT_EQ(&copy.nesting(), &view.nesting());
}

TEST(RankView, FactsStayWhenTheStoreMoves) {
  StoreBuilder b = OneKernel();
  const RankView before(b.store);
  const KernelSlices& found = before.kernel_slices();
  const store::TraceStore moved = std::move(b.store);
  const RankView after = before.AfterMove(moved);
  EXPECT_EQ(&after.store(), &moved);
  EXPECT_EQ(&after.kernel_slices(), &found);
  EXPECT_EQ(after.steps()[0].step, 7);  // asked for only now
}

TEST(RankView, ManyThreadsGetTheSameFact) {
  const StoreBuilder b = OneKernel();
  const RankView view(b.store);
  std::vector<const FlowEnds*> seen(8);
  {
    std::vector<std::jthread> threads;
    for (const FlowEnds*& place : seen)
      threads.emplace_back([&view, &place] { place = &view.flow_ends(); });
  }
  EXPECT_THAT(seen, testing::Each(&view.flow_ends()));
}

}  // namespace
}  // namespace steplens::analysis
