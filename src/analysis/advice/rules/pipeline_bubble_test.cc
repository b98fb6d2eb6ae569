#include "analysis/advice/rules/test_advice.h"

namespace steplens::analysis {
namespace {

// A stage of a pipeline of two that works for `busy_ms` of its 20 ms step and receives for the
// rest, in eight receives.
StoreBuilder Stage(int64_t rank_number, int64_t busy_ms) {
  constexpr int64_t kMs = 1'000'000;
  StoreBuilder rank;
  rank.store.info.rank = rank_number;
  rank.store.info.format = store::Format::kText;
  rank.store.meta.Append(
      {rank.Text("distributed_args"),
       rank.Text(R"({"tensor_model_parallel_size": 1, "pipeline_model_parallel_size": 2,
                     "data_parallel_size": 1, "context_parallel_size": 1, "world_size": 2})")});
  const store::TrackId stream = rank.ThreadOf("Ascend Hardware", "Stream 2");
  const store::TrackId group = rank.ThreadOf("Communication", "Group 0 Communication");
  rank.Step(1, 0, 20 * kMs);
  rank.Slice(stream, 0, busy_ms * kMs, "k");
  rank.Kernel("k", "MatMul", "AI_CORE", 0, busy_ms * kMs);
  const int64_t each_ns = (20 - busy_ms) * kMs / 8;
  for (int64_t i = 0; i < 8; ++i) {
    const int64_t at = busy_ms * kMs + i * each_ns;
    rank.Slice(group, at, at + each_ns, "hcom_receive__1_0_1");
    rank.CommOp("hcom_receive__1_0_1", at, at + each_ns, group);
  }
  return rank;
}

store::Job TwoStages(int64_t busy_ms) {
  store::Job job;
  job.ranks.push_back(Stage(0, busy_ms).store);
  job.ranks.push_back(Stage(1, busy_ms).store);
  return job;
}

// Two stages and 8 micro batches must idle 1/9 of a step; these idle half of it.
TEST(PipelineBubble, IsMoreThanTheScheduleNeeds) {
  const TestAdvice advice(TwoStages(10), RuleId::kPipelineBubble);
  ASSERT_EQ(advice.count(), 1u);
  EXPECT_EQ(English(advice.first().reason),
            "it idles 50.0 % of the step; 8 micro batches make 11.1 % necessary");
  EXPECT_NEAR(advice.first().saving->at_most_ms, 20 * (0.5 - 1.0 / 9), 0.05);
}

TEST(PipelineBubble, WhatTheScheduleNeedsIsNoFinding) {
  EXPECT_EQ(TestAdvice(TwoStages(18), RuleId::kPipelineBubble).count(), 0u);
}

}  // namespace
}  // namespace steplens::analysis
