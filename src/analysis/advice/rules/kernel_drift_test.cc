#include "analysis/advice/rules/test_advice.h"

namespace steplens::analysis {
namespace {

// Ten products, `product_us` each on the device; the host waits for each and goes on 300 us later.
TestStep Products(int64_t rank, int64_t product_us) {
  TestStep step(10 * (product_us + 300) + 500, rank);
  for (int64_t i = 0; i < 10; ++i) {
    const int64_t at = 10 + i * (product_us + 300);
    step.Host("aten::mm", at, at + 20);
    step.Launch(at + 5, at + 7, step.stream, at + 12, at + 12 + product_us);
    step.Kernel("gemm", "", "kernel", (at + 12) * 1000, (at + 12 + product_us) * 1000, 0);
    step.Call("cudaDeviceSynchronize", at + 30, at + 16 + product_us);
  }
  return step;
}

store::Job ThreeRanks(int64_t last_us) {
  store::Job job;
  for (int64_t rank = 0; rank < 3; ++rank) {
    TestStep step = Products(rank, rank == 2 ? last_us : 800);
    job.ranks.push_back(std::move(step.store));
  }
  return job;
}

TEST(KernelDrift, NamesTheRankWhoseKernelsAreSlow) {
  const TestAdvice advice(ThreeRanks(1'000), RuleId::kKernelDrift);
  ASSERT_EQ(advice.count(), 1u);
  EXPECT_EQ(advice.first().ranks, std::vector<int64_t>{2});
  EXPECT_NE(English(advice.first().reason).find("gemm by 25 %"), std::string::npos);
  // 200 us of each of ten products, and the waits for them are shorter.
  EXPECT_NEAR(advice.first().saving->at_most_ms, 2.0, 0.05);
}

TEST(KernelDrift, SmallDifferencesAreNoFinding) {
  EXPECT_EQ(TestAdvice(ThreeRanks(820), RuleId::kKernelDrift).count(), 0u);
}

}  // namespace
}  // namespace steplens::analysis
