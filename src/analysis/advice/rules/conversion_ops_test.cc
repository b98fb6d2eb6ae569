#include "analysis/advice/rules/test_advice.h"

namespace steplens::analysis {
namespace {

// A cast of `cast_us` between two products of 4 ms, on one stream.
TestStep WithCast(int64_t cast_us) {
  TestStep step(8'100 + cast_us);
  step.Host("aten::mm", 5, 30);
  step.Launch(10, 12, step.stream, 20, 4'020);
  step.Host("aten::to", 34, 56);
  step.Host("aten::_to_copy", 35, 55);
  step.Launch(40, 42, step.stream, 4'021, 4'021 + cast_us, "cast");
  step.Host("aten::mm", 60, 90);
  step.Launch(70, 72, step.stream, 4'022 + cast_us, 8'022 + cast_us);
  step.Call("cudaDeviceSynchronize", 100, 8'026 + cast_us);
  return step;
}

TEST(ConversionOps, CountsACopyOnce) {
  TestStep step = WithCast(2'000);
  const TestAdvice advice(step, RuleId::kConversionOps);
  ASSERT_EQ(advice.count(), 1u);
  EXPECT_NEAR(advice.first().saving->at_most_ms, 2, 0.03);
  EXPECT_NEAR(advice.SavedUs(), 2'000, 20);
}

TEST(ConversionOps, AShortOneIsNoFinding) {
  TestStep step = WithCast(300);  // 3.6 % of 8.4 ms
  EXPECT_EQ(TestAdvice(step, RuleId::kConversionOps).count(), 0u);
}

}  // namespace
}  // namespace steplens::analysis
