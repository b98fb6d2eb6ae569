#include "analysis/steps/steps.h"

#include <gtest/gtest.h>

#include "analysis/steps/step_parts.h"
#include "analysis/testing/store_builder.h"

namespace steplens::analysis {
namespace {

using store::TrackId;

TEST(ComputeStepRanges, EmptyWithoutMarkedSteps) {
  StoreBuilder b;
  b.Kernel("Add", "Add", "AI_CORE", 0, 10);
  EXPECT_TRUE(ComputeStepRanges(b.store).empty());
}

TEST(ComputeStepRanges, TextSpansTheKernelsItsOperatorsLaunched) {
  StoreBuilder b;
  b.store.info.format = store::Format::kText;
  const TrackId host = b.ThreadOf("Python", "Thread 1");
  const TrackId stream = b.ThreadOf("Ascend Hardware", "Stream 2");
  b.Step(51, 100, 200);
  b.Step(50, 0, 100);
  b.Slice(stream, 40, 60, "a");
  b.Slice(stream, 150, 170, "b");
  b.Slice(stream, 180, 250, "c");
  b.Flow("async_npu", host, 10, stream, 40);
  b.Flow("async_npu", host, 90, stream, 150);
  b.Flow("async_npu", host, 120, stream, 180);
  const auto steps = ComputeStepRanges(b.store);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].step, 50);
  EXPECT_EQ(steps[0].begin_ns, 40);
  EXPECT_EQ(steps[0].end_ns, 170);
  EXPECT_EQ(steps[1].begin_ns, 180);
  EXPECT_EQ(steps[1].end_ns, 250);
}

TEST(ComputeStepRanges, StepDoesNotEndBeforeItsHostDoes) {
  StoreBuilder b;
  const TrackId host = b.ThreadOf("Python", "Thread 1");
  const TrackId stream = b.ThreadOf("Ascend Hardware", "Stream 2");
  b.Step(1, 0, 100);
  b.Slice(stream, 40, 60, "a");
  b.Flow("async_npu", host, 10, stream, 40);
  EXPECT_EQ(ComputeStepRanges(b.store)[0].end_ns, 100);
}

TEST(ComputeStepRanges, StepWithoutDeviceWorkIsItsHostRange) {
  StoreBuilder b;
  b.Step(1, 5, 100);
  const auto steps = ComputeStepRanges(b.store);
  EXPECT_EQ(steps[0].begin_ns, 5);
  EXPECT_EQ(steps[0].end_ns, 100);
}

TEST(ComputeStepRanges, WhereTheHostDoesTheWorkStepsAreThoseOfTheHost) {
  StoreBuilder b;
  const TrackId host = b.ThreadOf("Python", "Thread 1");
  const TrackId stream = b.ThreadOf("Ascend Hardware", "Stream 2");
  b.Step(1, 0, 110);
  b.Step(2, 100, 200);
  b.Slice(stream, 40, 260, "a");
  b.Slice(stream, 120, 130, "b");
  b.Flow("async_npu", host, 40, stream, 40);
  b.Flow("async_npu", host, 120, stream, 120);
  const auto steps = ComputeStepRanges(b.store);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_TRUE(steps[0].cuts_work);
  EXPECT_EQ(steps[0].begin_ns, 0);
  EXPECT_EQ(steps[0].end_ns, 100);
  EXPECT_EQ(steps[1].begin_ns, 100);
  EXPECT_EQ(steps[1].end_ns, 200);
  b.Flow("async_npu", host, 10, stream, 40);  // one launch that took time: an accelerator
  EXPECT_FALSE(ComputeStepRanges(b.store)[0].cuts_work);
}

TEST(ForEachStepPart, CutsAtBothEndsOfSteps) {
  const std::vector<StepRange> steps{
      {1, 0, 10, 0, 10, true}, {2, 10, 20, 10, 20, true}, {3, 30, 40, 30, 40, true}};
  const auto parts = [&](Interval whole) {
    std::vector<Interval> out;
    ForEachStepPart(steps, whole, [&](Interval part) { out.push_back(part); });
    return out;
  };
  EXPECT_EQ(parts({2, 8}), (std::vector<Interval>{{2, 8}}));
  EXPECT_EQ(parts({0, 10}), (std::vector<Interval>{{0, 10}}));
  EXPECT_EQ(parts({5, 35}), (std::vector<Interval>{{5, 10}, {10, 20}, {20, 30}, {30, 35}}));
  EXPECT_EQ(parts({-5, 50}),
            (std::vector<Interval>{{-5, 0}, {0, 10}, {10, 20}, {20, 30}, {30, 40}, {40, 50}}));
  EXPECT_EQ(parts({7, 7}), (std::vector<Interval>{{7, 7}}));
}

TEST(ComputeStepRanges, DbGoesByNodeCallsAndTheirTasks) {
  StoreBuilder b;
  b.store.info.format = store::Format::kDb;
  const TrackId cann = b.ThreadOf("CANN", "Thread 1");
  const TrackId stream = b.ThreadOf("Ascend Hardware", "Stream 2");
  b.Step(1, 0, 100);
  b.Slice(cann, 20, 30, "Node@launch", "", 4);
  b.Slice(stream, 40, 60, "EVENT_WAIT", "", 4);
  b.Slice(stream, 60, 130, "Add", "", 4);
  const auto steps = ComputeStepRanges(b.store);
  EXPECT_EQ(steps[0].begin_ns, 40);
  EXPECT_EQ(steps[0].end_ns, 130);
}

TEST(ComputeStepRanges, GpuGoesByRuntimeCalls) {
  StoreBuilder b;
  const TrackId host = b.ThreadOf("python", "thread 1");
  const TrackId stream = b.ThreadOf("python", "stream 7");
  b.Step(1, 0, 100);
  b.Slice(host, 20, 30, "cudaLaunchKernel", "cuda_runtime", 9);
  b.Slice(stream, 110, 130, "gemm", "kernel", 9);
  const auto steps = ComputeStepRanges(b.store);
  EXPECT_EQ(steps[0].begin_ns, 110);
  EXPECT_EQ(steps[0].end_ns, 130);
}

TEST(StepFinder, TakesTheFirstStepThatHoldsTheTime) {
  const std::vector<StepRange> steps{{1, 0, 10, 5, 30}, {2, 10, 20, 25, 40}, {3, 20, 60, 50, 60}};
  StepFinder finder(steps);
  EXPECT_EQ(finder.Find(4), std::nullopt);
  EXPECT_EQ(finder.Find(5), 0u);
  EXPECT_EQ(finder.Find(29), 0u);
  EXPECT_EQ(finder.Find(30), 1u);
  EXPECT_EQ(finder.Find(45), std::nullopt);
  EXPECT_EQ(finder.Find(59), 2u);
  EXPECT_EQ(finder.Find(60), std::nullopt);
  EXPECT_EQ(finder.Find(26), 0u) << "going back works too";
}

}  // namespace
}  // namespace steplens::analysis
