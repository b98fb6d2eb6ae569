#include "analysis/advice/rules/test_advice.h"

namespace steplens::analysis {
namespace {

StoreBuilder StepsOf(const std::vector<int64_t>& lengths_us) {
  StoreBuilder rank;
  const store::TrackId host = rank.ThreadOf("python", "thread 1");
  int64_t at_ns = 0;
  for (size_t i = 0; i < lengths_us.size(); ++i) {
    const int64_t end_ns = at_ns + lengths_us[i] * 1000;
    rank.Step(static_cast<int64_t>(i), at_ns, end_ns);
    rank.Slice(host, at_ns, end_ns - 1000, "aten::mm", "cpu_op");
    at_ns = end_ns;
  }
  return rank;
}

TEST(DataHygiene, SaysThatTheFirstStepWarmsUp) {
  StoreBuilder rank = StepsOf({5'000, 1'000, 1'000, 1'000, 1'000});
  const TestAdvice advice(rank, RuleId::kDataHygiene);
  ASSERT_EQ(advice.count(), 1u);
  EXPECT_EQ(English(advice.first().subject), "warm-up among the steps");
  EXPECT_NE(English(advice.first().reason).find("5.0 times"), std::string::npos);
  EXPECT_FALSE(advice.first().saving.has_value());
  // It has neither shapes, nor stacks, nor memory.
  EXPECT_EQ(advice.first().evidence.size(), 4u);
}

TEST(DataHygiene, SaysThatOneStepIsLittle) {
  StoreBuilder rank = StepsOf({1'000});
  const TestAdvice advice(rank, RuleId::kDataHygiene);
  ASSERT_EQ(advice.count(), 1u);
  EXPECT_EQ(English(advice.first().subject), "one step");
}

TEST(DataHygiene, HasNothingToSayOfEvenSteps) {
  StoreBuilder rank = StepsOf({1'000, 1'000, 1'000, 1'000, 1'000});
  EXPECT_EQ(TestAdvice(rank, RuleId::kDataHygiene).count(), 0u);
}

}  // namespace
}  // namespace steplens::analysis
