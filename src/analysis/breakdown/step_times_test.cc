#include "analysis/breakdown/step_times.h"

#include <gtest/gtest.h>

#include "analysis/breakdown/breakdown.h"
#include "analysis/testing/store_builder.h"

namespace steplens::analysis {
namespace {

constexpr int64_t kMs = 1'000'000;

// A GPU whose host runs ahead: marks of 17, 17 and 16 ms, while each step keeps the device busy for
// 19 ms. The first kernel of step 2 begins 2 ms after its mark, that of step 4 only 6 ms after.
struct RunAhead : StoreBuilder {
  RunAhead() {
    const store::TrackId host = ThreadOf("python", "thread 1");
    const store::TrackId stream = ThreadOf("GPU 0", "stream 7");
    for (int64_t i = 0; i < 3; ++i) {
      const int64_t mark_ns = 17 * i * kMs;
      const int64_t begin_ns = (2 + 19 * i) * kMs;
      Step(2 + i, mark_ns, mark_ns + (i == 2 ? 16 : 17) * kMs);
      Slice(host, mark_ns + kMs, mark_ns + 2 * kMs, "cudaLaunchKernel", "cuda_runtime", i);
      Slice(stream, begin_ns, begin_ns + 19 * kMs, "gemm", "kernel", i);
      Kernel("gemm", "", "", begin_ns, begin_ns + 19 * kMs);
    }
  }
};

TEST(StepTimes, HostAndDeviceHaveTheirOwnPeriods) {
  RunAhead gpu;
  const std::vector<StepTime> steps = StepTimesOf(RankView(gpu.store));
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].step, 2);
  EXPECT_EQ(steps[0].host_ns, 17 * kMs);
  EXPECT_EQ(steps[0].device_ns, 19 * kMs);
  EXPECT_EQ(steps[2].host_ns, 16 * kMs);  // the mark's own length
  EXPECT_EQ(steps[2].device_ns, 19 * kMs);
  const StepTime mean = MeanStepTime(steps);
  EXPECT_EQ(mean.host_ns, 17 * kMs);
  EXPECT_EQ(mean.device_ns, 19 * kMs);
  EXPECT_EQ(mean.ns(), 19 * kMs);
}

// The device is busy from 2 ms on: only the first step was prepared while it had nothing to do.
TEST(StepTimes, PreparingCountsOnlyWhileTheDeviceHasNothingToDo) {
  RunAhead gpu;
  const table::Table corrected = StepBreakdown({&gpu.store, 1}, {});
  EXPECT_EQ(corrected.Find("Preparing")->ints, (std::vector<int64_t>{2 * kMs, 0, 0}));
  const table::Table as_file = StepBreakdown({&gpu.store, 1}, {.rule = BreakdownRule::kDb});
  EXPECT_EQ(as_file.Find("Preparing")->ints, (std::vector<int64_t>{2 * kMs, 4 * kMs, 6 * kMs}));
}

TEST(StepTimes, OneStepIsAsLongAsItsMarkOrItsWork) {
  StoreBuilder b;
  const store::TrackId host = b.ThreadOf("Python", "Thread 1");
  const store::TrackId stream = b.ThreadOf("Ascend Hardware", "Stream 2");
  b.Step(50, 0, 147 * kMs);
  b.Slice(host, kMs, 2 * kMs, "aten::add", "cpu_op");
  b.Slice(stream, 10 * kMs, 140 * kMs, "Add");
  b.Flow("async_npu", host, kMs, stream, 10 * kMs);
  b.Kernel("Add", "Add", "AI_CORE", 10 * kMs, 140 * kMs);
  b.store.info.format = store::Format::kText;
  const StepTime mean = MeanStepTime(StepTimesOf(RankView(b.store)));
  EXPECT_EQ(mean.host_ns, 147 * kMs);
  EXPECT_EQ(mean.device_ns, 130 * kMs);
  EXPECT_EQ(mean.ns(), 147 * kMs);
}

TEST(StepTimes, WithoutATimelineTheStepTableSpeaks) {
  StoreBuilder b;
  b.store.step_traces.Append({.step = 3, .stage_us = 100, .bubble_us = 20});
  b.store.step_traces.Append({.step = 4, .stage_us = 90, .bubble_us = 0});
  const std::vector<StepTime> steps = StepTimesOf(RankView(b.store));
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].device_ns, 120'000);
  EXPECT_EQ(steps[0].host_ns, store::kNone);
  EXPECT_EQ(steps[0].ns(), 120'000);
}

TEST(StepTimes, ARunWithoutMarksHasNone) {
  StoreBuilder b;
  b.Slice(b.ThreadOf("Python", "Thread 1"), 0, 10, "aten::add", "cpu_op");
  EXPECT_TRUE(StepTimesOf(RankView(b.store)).empty());
  EXPECT_EQ(MeanStepTime({}).ns(), store::kNone);
}

}  // namespace
}  // namespace steplens::analysis
