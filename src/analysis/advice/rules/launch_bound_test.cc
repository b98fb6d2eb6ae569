#include "analysis/advice/rules/test_advice.h"

namespace steplens::analysis {
namespace {

// A product of 1 ms, then `calls` small operators of 10 us that each launch 1 us of work, 2 us
// apart, then a product of 1 ms and a wait for it.
TestStep WithSmallOperators(int calls, int64_t kernel_us = 1) {
  const int64_t end_us = 1100 + 12 * calls;
  TestStep step(end_us + 1200);
  step.Host("aten::mm", 5, 30);
  step.Launch(10, 12, step.stream, 20, 1020);
  for (int i = 0; i < calls; ++i) {
    const int64_t at = 1100 + 12 * i;
    step.Host("aten::add", at, at + 10);
    step.Launch(at + 4, at + 6, step.stream, at + 11, at + 11 + kernel_us);
  }
  step.Host("aten::mm", end_us + 5, end_us + 30);
  step.Launch(end_us + 10, end_us + 12, step.stream, end_us + 20, end_us + 1020);
  step.Call("cudaDeviceSynchronize", end_us + 40, end_us + 1025);
  return step;
}

TEST(LaunchBound, NamesRowsOfSmallOperators) {
  TestStep step = WithSmallOperators(100);
  const TestAdvice advice(step, RuleId::kLaunchBound);
  ASSERT_EQ(advice.count(), 1u);
  EXPECT_EQ(English(advice.first().subject), "aten::add");
  EXPECT_EQ(English(advice.first().reason).substr(0, 18), "100 calls per step");
  // 99 of the 100 are gone, 12 us each; the last one's pause stays.
  EXPECT_NEAR(advice.SavedUs(), 99 * 12, 15);
  EXPECT_EQ(advice.first().confidence, Confidence::kMeasured);
}

TEST(LaunchBound, LeavesAFewAlone) {
  TestStep step = WithSmallOperators(20);
  EXPECT_EQ(TestAdvice(step, RuleId::kLaunchBound).count(), 0u);
}

TEST(LaunchBound, LeavesOperatorsThatComputeAlone) {
  TestStep step = WithSmallOperators(100, 11);
  EXPECT_EQ(TestAdvice(step, RuleId::kLaunchBound).count(), 0u);
}

}  // namespace
}  // namespace steplens::analysis
