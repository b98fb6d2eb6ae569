#include "analysis/advice/rules/test_advice.h"

namespace steplens::analysis {
namespace {

// A backward pass of 6 ms on a CPU; its first 2 ms run the forward operator again, which autograd
// records.
StoreBuilder Backward(bool is_again) {
  StoreBuilder rank;
  const store::TrackId host = rank.ThreadOf("python", "thread 1");
  rank.Step(1, 0, 10'000'000);
  rank.Slice(host, 0, 10'000'000, "ProfilerStep#1", "user_annotation");
  const store::SliceId forward = rank.Slice(host, 100'000, 2'100'000, "aten::linear", "cpu_op");
  rank.store.host_ops.Append({.slice = forward, .sequence_number = 7, .fwd_thread = 0});
  const store::SliceId backward = rank.Slice(
      host, 3'000'000, 9'000'000, "autograd::engine::evaluate_function: AddmmBackward0", "cpu_op");
  rank.store.host_ops.Append({.slice = backward, .sequence_number = 7, .fwd_thread = 1});
  const store::SliceId inner = rank.Slice(host, 3'100'000, 5'100'000, "aten::linear", "cpu_op");
  rank.store.host_ops.Append(
      {.slice = inner, .sequence_number = is_again ? 8 : -1, .fwd_thread = 0});
  return rank;
}

TEST(Recompute, CostsWhatRunsAgain) {
  StoreBuilder rank = Backward(true);
  const TestAdvice advice(rank, RuleId::kRecompute);
  ASSERT_EQ(advice.count(), 1u);
  EXPECT_NEAR(advice.SavedUs(), 2'000, 5);
}

TEST(Recompute, ABackwardOperatorIsNoRepetition) {
  StoreBuilder rank = Backward(false);
  EXPECT_EQ(TestAdvice(rank, RuleId::kRecompute).count(), 0u);
}

}  // namespace
}  // namespace steplens::analysis
