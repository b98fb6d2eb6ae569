#include "analysis/advice/rules/test_advice.h"

namespace steplens::analysis {
namespace {

// Eight steps of 1 ms on a CPU, 0.9 ms of them an operator; the sixth pauses for `pause_us` more.
StoreBuilder Steps(int64_t pause_us) {
  StoreBuilder rank;
  const store::TrackId host = rank.ThreadOf("python", "thread 1");
  int64_t at_ns = 0;
  for (int64_t i = 0; i < 8; ++i) {
    const int64_t end_ns = at_ns + 1'000'000 + (i == 5 ? pause_us * 1000 : 0);
    rank.Step(i, at_ns, end_ns);
    rank.Slice(host, at_ns, end_ns, "ProfilerStep#" + std::to_string(i), "user_annotation");
    rank.Slice(host, at_ns + 50'000, at_ns + 950'000, "aten::mm", "cpu_op");
    at_ns = end_ns;
  }
  return rank;
}

TEST(StepJitter, NamesTheSlowStep) {
  StoreBuilder rank = Steps(1'400);
  const TestAdvice advice(rank, RuleId::kStepJitter);
  ASSERT_EQ(advice.count(), 1u);
  EXPECT_EQ(English(advice.first().subject), "step 5");
  // 1.4 ms more in one of the seven steps whose end is known.
  EXPECT_NEAR(advice.first().saving->at_most_ms, 0.2, 0.001);
  EXPECT_FALSE(advice.first().saving->ms.has_value());
  EXPECT_NE(English(advice.first().reason).find("free time"), std::string::npos);
}

TEST(StepJitter, EvenStepsAreNoFinding) {
  StoreBuilder rank = Steps(0);
  EXPECT_EQ(TestAdvice(rank, RuleId::kStepJitter).count(), 0u);
}

}  // namespace
}  // namespace steplens::analysis
