#include "analysis/advice/rules/test_advice.h"

namespace steplens::analysis {
namespace {

// A rank whose experts get `tokens` and need a us for each.
StoreBuilder Expert(int64_t rank_number, int64_t tokens) {
  StoreBuilder rank;
  rank.store.info.rank = rank_number;
  rank.store.info.format = store::Format::kText;
  const store::TrackId stream = rank.ThreadOf("Ascend Hardware", "Stream 2");
  rank.Step(1, 0, 10'000'000);
  rank.Slice(stream, 0, tokens * 1000, "aclnnGroupedMatmulV4");
  rank.store.kernels.Append({.name = rank.Text("aclnnGroupedMatmulV4"),
                             .type = rank.Text("GroupedMatmul"),
                             .core = rank.Text("MIX_AIC"),
                             .begin_ns = 0,
                             .dur_ns = tokens * 1000,
                             .input_shapes = rank.Text(std::to_string(tokens) + ",64;4,64,128")});
  return rank;
}

store::Job TwoExperts(int64_t first, int64_t second) {
  store::Job job;
  job.ranks.push_back(Expert(0, first).store);
  job.ranks.push_back(Expert(1, second).store);
  return job;
}

TEST(ExpertBalance, NamesTheRankWithMostTokens) {
  const TestAdvice advice(TwoExperts(1'000, 3'000), RuleId::kExpertBalance);
  ASSERT_EQ(advice.count(), 1u);
  EXPECT_EQ(advice.first().ranks, std::vector<int64_t>{1});
  EXPECT_EQ(English(advice.first().reason), "its experts get 1.50 times the mean of tokens");
  EXPECT_LE(advice.first().saving->at_most_ms, 1.0);
}

TEST(ExpertBalance, EvenTokensAreNoFinding) {
  EXPECT_EQ(TestAdvice(TwoExperts(2'000, 2'200), RuleId::kExpertBalance).count(), 0u);
}

}  // namespace
}  // namespace steplens::analysis
