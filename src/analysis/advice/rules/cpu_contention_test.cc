#include "analysis/advice/rules/test_advice.h"

namespace steplens::analysis {
namespace {

// Twenty additions that take the host 50 us and the device 60 us; every sixth takes the host
// `slow_us`.
TestStep Additions(int64_t slow_us) {
  int64_t at = 10;
  TestStep step(20'000);
  for (int i = 0; i < 20; ++i) {
    const int64_t length = i % 6 == 5 ? slow_us : 50;
    step.Host("aten::add", at, at + length);
    step.Launch(at + length - 10, at + length - 5, step.stream, at + length, at + length + 45,
                "add");
    step.Kernel("add", "", "kernel", (at + length) * 1000, (at + length + 45) * 1000, 0);
    at += length + 5;
  }
  step.Call("cudaDeviceSynchronize", at, at + 60);
  step.Host("aten::mm", at + 70, at + 100);
  step.Launch(at + 80, at + 85, step.stream, at + 90, 19'900);
  step.Kernel("gemm", "", "kernel", (at + 90) * 1000, 19'900'000, 0);
  return step;
}

TEST(CpuContention, FindsOperatorsThatLostTheirCore) {
  TestStep step = Additions(2'000);
  const TestAdvice advice(step, RuleId::kCpuContention);
  ASSERT_EQ(advice.count(), 1u);
  EXPECT_EQ(English(advice.first().reason), "3 operators take many times their usual host time");
  EXPECT_EQ(advice.first().confidence, Confidence::kHint);
  // Three times 1,950 us.
  EXPECT_NEAR(advice.first().saving->at_most_ms, 5.85, 0.05);
}

TEST(CpuContention, EvenTimesAreNoFinding) {
  TestStep step = Additions(60);
  EXPECT_EQ(TestAdvice(step, RuleId::kCpuContention).count(), 0u);
}

}  // namespace
}  // namespace steplens::analysis
