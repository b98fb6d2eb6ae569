#include "analysis/advice/rules/test_advice.h"
#include "analysis/testing/gpu_rank.h"

namespace steplens::analysis {
namespace {

// A product of 2 GFLOP in 1 ms on an A40, which can do 149.7 TFLOP/s: 13 us would do.
TEST(Roofline, CountsWhatIsAboveTheDevicesLimits) {
  GpuRank rank;
  rank.Device("NVIDIA A40");
  rank.Op("aten::mm", 10, 20, "[[1000, 1000], [1000, 1000]]", true);
  const TestAdvice advice(rank, RuleId::kRoofline);
  ASSERT_EQ(advice.count(), 1u);
  EXPECT_EQ(English(advice.first().reason).substr(0, 20), "its calls reach 1 % ");
  EXPECT_NEAR(advice.first().saving->at_most_ms, 0.987, 0.001);
  EXPECT_EQ(advice.first().confidence, Confidence::kHint);
}

TEST(Roofline, AnUnknownDeviceHasNoLimits) {
  GpuRank rank;
  rank.Op("aten::mm", 10, 20, "[[1000, 1000], [1000, 1000]]", true);
  EXPECT_EQ(TestAdvice(rank, RuleId::kRoofline).count(), 0u);
}

TEST(Roofline, AGoodKernelIsNoFinding) {
  GpuRank rank;
  rank.Device("NVIDIA A40");
  rank.Op("aten::mm", 10, 20, "[[3000, 5000], [5000, 4000]]", true);  // 120 GFLOP in 1 ms: above
  EXPECT_EQ(TestAdvice(rank, RuleId::kRoofline).count(), 0u);
}

}  // namespace
}  // namespace steplens::analysis
