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

size_t FindingsOfADeviceWith(double tera, double& saved_ms) {
  GpuRank rank;
  rank.Op("aten::mm", 10, 20, "[[1000, 1000], [1000, 1000]]", true);
  RuleSettings settings;
  settings.peak_flops_per_s = tera * 1e12;
  const TestAdvice advice(rank, RuleId::kRoofline, settings);
  if (advice.count() > 0) saved_ms = advice.first().saving->at_most_ms;
  return advice.count();
}

TEST(Roofline, TheUserKnowsTheDevice) {
  double saved_ms = 0;
  EXPECT_EQ(FindingsOfADeviceWith(10, saved_ms), 1u);
  EXPECT_NEAR(saved_ms, 0.8, 0.001);                  // 2 GFLOP take 0.2 ms
  EXPECT_EQ(FindingsOfADeviceWith(3, saved_ms), 0u);  // it reached more than half of that
}

TEST(Roofline, AGoodKernelIsNoFinding) {
  GpuRank rank;
  rank.Device("NVIDIA A40");
  rank.Op("aten::mm", 10, 20, "[[3000, 5000], [5000, 4000]]", true);  // 120 GFLOP in 1 ms: above
  EXPECT_EQ(TestAdvice(rank, RuleId::kRoofline).count(), 0u);
}

}  // namespace
}  // namespace steplens::analysis
