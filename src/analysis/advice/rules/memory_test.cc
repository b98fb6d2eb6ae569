#include "analysis/advice/rules/test_advice.h"

namespace steplens::analysis {
namespace {

constexpr int64_t kMb = 1 << 20;

// Five steps of 1 ms; at the end of each `grown_mb` more are allocated.
StoreBuilder Steps(int64_t grown_mb, int64_t reserved_mb) {
  StoreBuilder rank;
  const store::TrackId host = rank.ThreadOf("python", "thread 1");
  for (int64_t i = 0; i < 5; ++i) {
    const int64_t at_ns = i * 1'000'000;
    rank.Step(i, at_ns, at_ns + 1'000'000);
    rank.Slice(host, at_ns, at_ns + 1'000'000, "ProfilerStep#" + std::to_string(i),
               "user_annotation");
    rank.Slice(host, at_ns + 100, at_ns + 900'000, "aten::mm", "cpu_op");
    rank.store.memory_samples.Append({.ts_ns = at_ns + 950'000,
                                      .allocated_bytes = (1000 + grown_mb * i) * kMb,
                                      .reserved_bytes = reserved_mb * kMb,
                                      .device = rank.Text("GPU:0")});
  }
  return rank;
}

TEST(MemoryGrowth, IsTheSameInEveryStep) {
  StoreBuilder rank = Steps(10, 2'000);
  const TestAdvice advice(rank, RuleId::kMemoryGrowth);
  ASSERT_EQ(advice.count(), 1u);
  EXPECT_EQ(English(advice.first().reason), "allocated memory grows by 10.0 MB with every step");
  EXPECT_FALSE(advice.first().saving.has_value());
}

TEST(MemoryGrowth, SteadyMemoryIsNoFinding) {
  StoreBuilder rank = Steps(0, 2'000);
  EXPECT_EQ(TestAdvice(rank, RuleId::kMemoryGrowth).count(), 0u);
}

TEST(Fragmentation, IsWhatNobodyUsesAtThePeak) {
  StoreBuilder rank = Steps(0, 4'000);
  const TestAdvice advice(rank, RuleId::kFragmentation);
  ASSERT_EQ(advice.count(), 1u);
  EXPECT_EQ(English(advice.first().reason), "75 % of the reserved memory is not used at the peak");
}

TEST(Fragmentation, SmallReservesAreNoFinding) {
  StoreBuilder rank = Steps(0, 1'900);  // 900 MB: below a GB
  EXPECT_EQ(TestAdvice(rank, RuleId::kFragmentation).count(), 0u);
}

// 2 ms of cudaMalloc before the launch of the second product, while the device idles.
TEST(AllocatorCalls, SaveWhatTheDeviceWaitsForThem) {
  TestStep step(13'000);
  step.Host("aten::mm", 5, 30);
  step.Launch(10, 12, step.stream, 20, 5'020);
  step.Host("aten::mm", 35, 7'200);
  step.Call("cudaMalloc", 40, 7'040);
  step.Launch(7'050, 7'052, step.stream, 7'060, 12'060);
  step.Call("cudaDeviceSynchronize", 7'210, 12'064);
  const TestAdvice advice(step, RuleId::kAllocatorCalls);
  ASSERT_EQ(advice.count(), 1u);
  EXPECT_NEAR(advice.SavedUs(), 7'060 - 5'021, 20);
}

}  // namespace
}  // namespace steplens::analysis
