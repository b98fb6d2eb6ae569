#include "analysis/advice/rules/test_advice.h"

namespace steplens::analysis {
namespace {

constexpr const char* kAllReduce = "ncclDevKernel_AllReduce_Sum_f32";

// A product of 4 ms, and after it `calls` collectives of 100 us, 10 us apart, of `elements` floats.
TestStep WithCollectives(int calls, int64_t elements) {
  const int64_t end_us = 4'100 + 110 * calls;
  TestStep step(end_us + 20);
  step.Host("aten::mm", 5, 30);
  step.Launch(10, 12, step.stream, 20, 4'020);
  for (int i = 0; i < calls; ++i) {
    const int64_t at = 4'030 + 110 * i;
    step.Launch(40 + 10 * i, 42 + 10 * i, step.stream2, at, at + 100, kAllReduce);
    step.store.comm_ops.Append({.track = step.stream2,
                                .name = step.Text(kAllReduce),
                                .begin_ns = at * 1000,
                                .dur_ns = 100'000,
                                .data_type = step.Text("Float"),
                                .count = elements});
  }
  step.Call("cudaDeviceSynchronize", 50 + 10 * calls, end_us);
  return step;
}

// 20 calls of 10,000 floats in 2 ms. As one: 100 us, and 800,000 bytes at 400 bytes a us... which
// the best call reached: 2,000 us. Nothing is known to be faster, so nothing is promised.
TEST(SmallCollectives, PromiseNothingWithoutAFasterCall) {
  TestStep step = WithCollectives(20, 10'000);
  EXPECT_EQ(TestAdvice(step, RuleId::kSmallCollectives).count(), 0u);
}

StoreBuilder WithCallTimes(double idle_ms) {
  StoreBuilder rank;
  rank.store.info.format = store::Format::kText;
  const store::TrackId stream = rank.ThreadOf("Ascend Hardware", "Stream 2");
  const store::TrackId group = rank.ThreadOf("Communication", "Group 0 Communication");
  rank.Step(1, 0, 30'000'000);
  rank.Kernel("k", "MatMul", "AI_CORE", 0, 10'000'000);
  rank.Slice(stream, 0, 10'000'000, "k");
  rank.Slice(group, 10'000'000, 30'000'000, "hcom_allReduce__1_0_1");
  rank.CommOp("hcom_allReduce__1_0_1", 10'000'000, 30'000'000, group);
  rank.store.comm_times.Append({.step = rank.Text("step1"),
                                .kind = rank.Text("collective"),
                                .op_name = rank.Text("hcom_allReduce__1_0_1"),
                                .start_us = 10'000,
                                .elapse_ms = 20,
                                .transit_ms = 20 - idle_ms,
                                .wait_ms = 0,
                                .idle_ms = idle_ms});
  return rank;
}

TEST(CollectiveIdle, SaysHowMuchOfACallIsIdle) {
  StoreBuilder rank = WithCallTimes(15);
  const TestAdvice advice(rank, RuleId::kCollectiveIdle);
  ASSERT_EQ(advice.count(), 1u);
  EXPECT_EQ(English(advice.first().reason),
            "75 % of the time of its collectives is idle, 25 % transfers");
  EXPECT_FALSE(advice.first().saving.has_value());  // the cause was not captured
  EXPECT_EQ(advice.first().confidence, Confidence::kHint);
}

TEST(CollectiveIdle, ACallThatTransfersIsNoFinding) {
  StoreBuilder rank = WithCallTimes(2);
  EXPECT_EQ(TestAdvice(rank, RuleId::kCollectiveIdle).count(), 0u);
}

}  // namespace
}  // namespace steplens::analysis
