#include "analysis/advice/rules/test_advice.h"

namespace steplens::analysis {
namespace {

// Two products of 5 ms. The host waits for the first one if `is_waiting`; launching the second
// takes it 2 ms. At its end the step waits for both.
TestStep TwoProducts(bool is_waiting) {
  TestStep step(14'000);
  step.Host("aten::mm", 5, 30);
  step.Launch(10, 12, step.stream, 20, 5'020);
  const int64_t after_us = is_waiting ? 5'030 : 50;
  if (is_waiting) step.Call("cudaStreamSynchronize", 40, 5'024);
  step.Host("aten::mm", after_us, after_us + 2'000);
  const int64_t start_us = is_waiting ? after_us + 1'990 : 5'021;
  step.Launch(after_us + 1'980, after_us + 1'982, step.stream, start_us, start_us + 5'000);
  step.Call("cudaDeviceSynchronize", after_us + 2'010, start_us + 5'004);
  return step;
}

TEST(HostSync, SavesWhatTheDeviceIdlesAfterTheWait) {
  TestStep step = TwoProducts(true);
  const TestAdvice advice(step, RuleId::kHostSync);
  ASSERT_EQ(advice.count(), 1u);
  // The second product starts at 7,020 us; without the wait at 5,021.
  EXPECT_NEAR(advice.SavedUs(), 2'000, 20);
  EXPECT_EQ(advice.first().places.at(0).name, "cudaStreamSynchronize");
}

TEST(HostSync, TheWaitAtTheEndOfTheStepIsNoFinding) {
  TestStep step = TwoProducts(false);
  EXPECT_EQ(TestAdvice(step, RuleId::kHostSync).count(), 0u);
}

// A CPU: 100 numbers read one by one, 8 us each and 2 us apart.
TEST(HostSync, ReadingNumbersOneByOneCostsTheHost) {
  StoreBuilder rank;
  const store::TrackId host = rank.ThreadOf("python", "thread 1");
  rank.Step(1, 0, 10'000'000);
  rank.Slice(host, 0, 10'000'000, "ProfilerStep#1", "user_annotation");
  rank.Slice(host, 0, 4'000'000, "aten::mm", "cpu_op");
  for (int64_t i = 0; i < 100; ++i) {
    const int64_t at = 5'000'000 + i * 10'000;
    rank.Slice(host, at, at + 8'000, "aten::item", "cpu_op");
  }
  rank.Slice(host, 6'500'000, 9'900'000, "aten::mm", "cpu_op");
  const TestAdvice advice(rank, RuleId::kHostSync);
  ASSERT_EQ(advice.count(), 1u);
  EXPECT_EQ(English(advice.first().subject), "aten::item");
  EXPECT_NEAR(advice.SavedUs(), 998, 2);
}

}  // namespace
}  // namespace steplens::analysis
