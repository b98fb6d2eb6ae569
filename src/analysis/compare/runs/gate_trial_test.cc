#include "analysis/compare/runs/gate_trial.h"

#include <gtest/gtest.h>

#include "analysis/compare/runs/test_runs.h"

namespace steplens::analysis::runs {
namespace {

std::vector<GateRule> TrialRules(std::initializer_list<std::string_view> texts) {
  std::vector<GateRule> out;
  for (const std::string_view text : texts) {
    const Result<GateRule> rule = ParseGateRule(text);
    EXPECT_TRUE(rule.ok()) << text;
    if (rule.ok()) out.push_back(*rule);
  }
  return out;
}

TEST(WithSteps, KeepsTheStepsAtTheirPlaces) {
  const RunSummary run = TestJob{.ranks = 2, .steps = 6}.Run();
  const std::vector<size_t> places = {1, 4};
  const RunSummary cut = WithSteps(run, places);
  EXPECT_EQ(cut.steps, (std::vector<int64_t>{11, 14}));
  ASSERT_EQ(cut.ranks[1].steps.size(), 2u);
  EXPECT_EQ(cut.ranks[1].steps[1].values, run.ranks[1].steps[4].values);
  EXPECT_EQ(cut.rows[0].total_ns,
            (std::vector<int64_t>{run.rows[0].total_ns[1], run.rows[0].total_ns[4]}));
}

TEST(PlantChange, ChangesWhatTheRuleIsAbout) {
  const RunSummary run = TestJob{.ranks = 2, .steps = 4}.Run();
  const auto planted = [&](std::string_view rule, RunSummary& changed) {
    changed = run;
    return PlantChange(changed, TrialRules({rule})[0], 0.05);
  };
  RunSummary changed;
  EXPECT_EQ(planted("kernel:*>1%", changed), "MatMul");
  EXPECT_NEAR(static_cast<double>(changed.rows[0].total_ns[2]),
              1.05 * static_cast<double>(run.rows[0].total_ns[2]), 1);
  EXPECT_EQ(changed.rows[1].total_ns, run.rows[1].total_ns);
  EXPECT_EQ(planted("memory>1%", changed), "memory");
  EXPECT_EQ(changed.rows[0].total_ns, run.rows[0].total_ns);
  EXPECT_NEAR(static_cast<double>(changed.ranks[1].steps[0][StepPart::kAllocated]),
              1.05 * static_cast<double>(run.ranks[1].steps[0][StepPart::kAllocated]), 1);
  EXPECT_EQ(planted("rank:1>1%", changed), "rank 1");
  EXPECT_GT(changed.ranks[1].steps[0][StepPart::kE2e], run.ranks[1].steps[0][StepPart::kE2e]);
  EXPECT_EQ(changed.ranks[0].steps[0].values, run.ranks[0].steps[0].values);
  EXPECT_EQ(planted("kernel:Nope>1%", changed), "");
  EXPECT_EQ(planted("jitter>1%", changed), "");
}

TEST(TryGate, CountsFalseAlarmsAndFindsTheSmallestChange) {
  const RunSummary run = TestJob{.ranks = 2, .steps = 40, .noise = 0.01}.Run();
  const auto rules = TrialRules({"e2e>0%", "kernel:MatMul>0%", "kernel:Nope>1%"});
  const GateTrial trial = TryGate(run, rules);
  EXPECT_EQ(trial.comparisons, 200u);
  EXPECT_EQ(trial.steps, 20u);
  EXPECT_LE(trial.alarms, 2u);
  EXPECT_NEAR(trial.rules[1].spread, 0.01 / std::sqrt(2.0), 0.003);  // the mean of two ranks
  EXPECT_GT(trial.rules[1].smallest, 0.004);
  EXPECT_LE(trial.rules[1].smallest, 0.02);
  EXPECT_EQ(trial.rules[2].planted, "");
  EXPECT_EQ(trial.rules[2].smallest, 0);
  // A limit hides what is smaller.
  EXPECT_GE(TryGate(run, TrialRules({"e2e>5%"}), {}, {.comparisons = 20}).rules[0].smallest, 0.07);
}

TEST(TryGate, FewStepsFindNothing) {
  const GateTrial trial =
      TryGate(TestJob{.steps = 4}.Run(), TrialRules({"e2e>0%"}), {}, {.comparisons = 10});
  EXPECT_EQ(trial.steps, 2u);
  EXPECT_EQ(trial.alarms, 0u);
  EXPECT_EQ(trial.rules[0].smallest, 0);
}

TEST(TryGate, TheSameSeedGivesTheSameTable) {
  const RunSummary run = TestJob{.steps = 20, .noise = 0.2}.Run();
  const auto rules = TrialRules({"e2e>0%"});
  const auto smallest = [&] {
    return TryGate(run, rules, {}, {.comparisons = 20}).rules[0].smallest;
  };
  EXPECT_EQ(smallest(), smallest());
}

}  // namespace
}  // namespace steplens::analysis::runs
