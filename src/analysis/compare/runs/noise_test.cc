#include "analysis/compare/runs/noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "analysis/compare/runs/test_runs.h"

namespace steplens::analysis::runs {
namespace {

using Values = std::vector<double>;

TEST(MeasureShift, TakesTheMedianOfAllDifferences) {
  // 1 0 -1, 3 2 1, 5 4 3: sorted -1 0 1 1 2 3 3 4 5.
  const Shift shift = MeasureShift(Values{1, 2, 3}, Values{2, 4, 6});
  EXPECT_DOUBLE_EQ(shift.change, 2);
  EXPECT_DOUBLE_EQ(shift.a, 2);
  EXPECT_DOUBLE_EQ(shift.b, 4);
  EXPECT_DOUBLE_EQ(shift.smallest_p, 2.0 / 20);
  EXPECT_LE(shift.low, shift.change);
  EXPECT_GE(shift.high, shift.change);
}

TEST(MeasureShift, OneSlowFirstStepChangesLittle) {
  const Values a = {500, 100, 101, 99, 100, 102, 98, 100};
  const Values b = {105, 107, 104, 105, 106, 103, 105, 106};
  const Shift shift = MeasureShift(a, b);
  EXPECT_NEAR(shift.change, 5, 0.6);
  EXPECT_LT(shift.p, 0.02);
}

TEST(MeasureShift, LeavesOutWhatIsNoNumber) {
  const Shift shift = MeasureShift(Values{1, NAN, 3}, Values{5});
  EXPECT_EQ(shift.a_steps, 2u);
  EXPECT_EQ(shift.b_steps, 1u);
  EXPECT_DOUBLE_EQ(shift.change, 3);
  EXPECT_EQ(MeasureShift(Values{}, Values{5}).p, 1);
}

TEST(MeasureShift, StepsThatFollowOneAnotherCountForLess) {
  Values a;
  Values b;
  for (int i = 0; i < 12; ++i) {
    a.push_back(i);  // a drift, not noise
    b.push_back(i + 3.5);
  }
  const Shift shift = MeasureShift(a, b);
  EXPECT_GT(shift.inflation, 3);
  Values shuffled_a = {5, 0, 9, 2, 11, 4, 7, 1, 10, 3, 8, 6};
  Values shuffled_b;
  for (const double value : shuffled_a) shuffled_b.push_back(value + 3.5);
  const Shift shuffled = MeasureShift(shuffled_a, shuffled_b);
  EXPECT_LT(shuffled.inflation, shift.inflation / 2);
  EXPECT_GT(shuffled.inflation, 1)
      << "so few steps cannot show that they know nothing of each other";
  EXPECT_GT(shift.p, shuffled.p);
}

TEST(HolmAdjusted, MultipliesBySmallestFirst) {
  // 0.01 * 3, 0.03 * 2, then 0.04 * 1, which is not below the one before.
  const Values adjusted = HolmAdjusted(Values{0.01, 0.04, 0.03});
  EXPECT_NEAR(adjusted[0], 0.03, 1e-12);
  EXPECT_NEAR(adjusted[1], 0.06, 1e-12);
  EXPECT_NEAR(adjusted[2], 0.06, 1e-12);
  EXPECT_DOUBLE_EQ(HolmAdjusted(Values{0.6, 0.9})[0], 1);
  EXPECT_TRUE(HolmAdjusted(Values{}).empty());
}

TEST(Judge, NeedsEnoughStepsAndEnoughChange) {
  const NoiseOptions options;
  const Values a = {100, 102, 99, 101, 98};
  const Values b = {115, 113, 117, 114, 116};
  const Shift up = MeasureShift(a, b);
  EXPECT_EQ(Judge(up, up.p, 1, 1, options), Verdict::kRegression);
  const Shift down = MeasureShift(b, a);
  EXPECT_EQ(Judge(down, down.p, 1, 1, options), Verdict::kImprovement);
  EXPECT_EQ(Judge(up, up.p, 1, 20, options), Verdict::kWithinNoise) << "too small to matter";
  // Two tests: 2 * 2/252 is above 1 %, whatever the steps say.
  EXPECT_EQ(Judge(up, 2 * up.p, 2, 1, options), Verdict::kTooFewSteps);
  const Shift single = MeasureShift(Values{100}, Values{200});
  EXPECT_EQ(Judge(single, single.p, 1, 1, options), Verdict::kTooFewSteps);
  const Shift same = MeasureShift(a, a);
  EXPECT_EQ(Judge(same, same.p, 1, 1, options), Verdict::kWithinNoise);
}

TEST(StepsNeeded, GrowsSlowlyWithTheNumberOfTests) {
  const NoiseOptions options;
  EXPECT_EQ(StepsNeeded(1, options), 5u);   // 2/252 = 0.008
  EXPECT_EQ(StepsNeeded(4, options), 6u);   // 4 * 2/924
  EXPECT_EQ(StepsNeeded(10, options), 7u);  // 10 * 2/3432
  EXPECT_EQ(StepsNeeded(60, options), 8u);  // 60 * 2/12870
  EXPECT_EQ(StepsNeeded(1, {.level = 0.05}), 4u);
}

// Steps of a run that did not change: normal or skewed, each with something of the one before.
Values Series(Normal& normal, size_t steps, double rho, bool is_skewed) {
  Values out;
  double x = normal();
  for (size_t i = 0; i < steps; ++i) {
    if (i > 0) x = rho * x + std::sqrt(1 - rho * rho) * normal();
    out.push_back(is_skewed ? std::exp(0.8 * x) : x);
  }
  return out;
}

double AlarmRate(uint32_t seed, size_t steps, double rho, bool is_skewed) {
  constexpr int kRuns = 1200;
  Normal normal(seed);
  int alarms = 0;
  for (int i = 0; i < kRuns; ++i) {
    const Values a = Series(normal, steps, rho, is_skewed);
    const Values b = Series(normal, steps, rho, is_skewed);
    alarms += MeasureShift(a, b).p <= 0.01 ? 1 : 0;
  }
  return static_cast<double>(alarms) / kRuns;
}

TEST(FalseAlarms, StayAtTheLevelForStepsOfAnyDistribution) {
  EXPECT_LE(AlarmRate(1, 6, 0, false), 0.005);
  EXPECT_LE(AlarmRate(2, 10, 0, false), 0.01);
  EXPECT_LE(AlarmRate(3, 10, 0, true), 0.01);
}

// Correlations of 0.6 are what recordings on busy machines show. 1200 pairs with a true rate of 1 %
// give more than 1.6 % once in fifty.
TEST(FalseAlarms, StayAtTheLevelWhereStepsFollowOneAnother) {
  EXPECT_LE(AlarmRate(4, 8, 0.3, false), 0.01);
  EXPECT_LE(AlarmRate(5, 8, 0.6, false), 0.016);
  EXPECT_LE(AlarmRate(6, 16, 0.6, true), 0.016);
  EXPECT_LE(AlarmRate(7, 40, 0.6, false), 0.016);
}

double FoundRate(uint32_t seed, size_t steps, double change) {
  Normal normal(seed);
  int found = 0;
  constexpr int kRuns = 200;
  for (int i = 0; i < kRuns; ++i) {
    const Values a = Series(normal, steps, 0, false);
    Values b = Series(normal, steps, 0, false);
    for (double& value : b) value += change;
    found += MeasureShift(a, b).p <= 0.01 ? 1 : 0;
  }
  return static_cast<double>(found) / kRuns;
}

TEST(FalseAlarms, LeaveThePowerToSeeAChange) {
  EXPECT_GE(FoundRate(8, 20, 3), 0.95);  // three times the noise
  EXPECT_GE(FoundRate(9, 12, 5), 0.85);
  EXPECT_GE(FoundRate(10, 8, 10), 0.9);
}

}  // namespace
}  // namespace steplens::analysis::runs
