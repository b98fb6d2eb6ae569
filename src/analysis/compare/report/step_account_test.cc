#include "analysis/compare/report/step_account.h"

#include <gtest/gtest.h>

#include <numeric>

#include "analysis/testing/store_builder.h"

namespace steplens::analysis::compare {
namespace {

constexpr int64_t kStart = 1'000'000;

// A GPU with two streams and steps of 1000 ns; the host launches everything at the start of a step.
struct AccountRank : StoreBuilder {
  store::TrackId host = ThreadOf("python", "thread 1");
  store::TrackId stream = Thread(Process("python", "GPU 0"), "stream 7");
  store::TrackId other = Thread(Process("python", "GPU 0"), "stream 9");
  int64_t launches = 0;

  void Launch(store::TrackId on, int64_t begin_ns, int64_t end_ns, std::string_view name) {
    ++launches;
    const int64_t host_ns = kStart + begin_ns / 1000 * 1000 + launches;
    Slice(host, host_ns, host_ns + 1, "cudaLaunchKernel", "cuda_runtime", launches);
    Slice(on, kStart + begin_ns, kStart + end_ns, name, "kernel", launches);
    StoreBuilder::Kernel(name, "", "kernel", kStart + begin_ns, kStart + end_ns, 0);
  }
};

StepAccount AccountOf(AccountRank& rank) {
  rank.store.info.source = store::Source::kKineto;
  const store::Job job = rank.Job();
  const SheetOptions options;
  const Result<Side> side = CollectSide(RankView(job.ranks[0]), options, std::nullopt);
  EXPECT_TRUE(side.ok());
  return AccountOfSteps({job, 0, *side}, options);
}

int64_t SumOf(const StepAccount& account) {
  return std::accumulate(account.total_ns.begin(), account.total_ns.end(), int64_t{0},
                         [](int64_t sum, const auto& one) { return sum + one.second; });
}

TEST(AccountOfSteps, CountsEachMomentOnceForWhatBeganFirst) {
  AccountRank rank;
  rank.Launch(rank.stream, 0, 100, "gemm");
  rank.Launch(rank.other, 60, 150, "elementwise");  // 40 ns of it lie under the gemm
  rank.Launch(rank.stream, 200, 260, "elementwise");
  const StepAccount account = AccountOf(rank);
  EXPECT_EQ(account.steps, 1);
  EXPECT_EQ(account.all_ns, 260);
  EXPECT_EQ(account.total_ns.at({AccountKind::kComputing, "cube"}), 100);
  EXPECT_EQ(account.total_ns.at({AccountKind::kComputing, "vector_other"}), 50 + 60);
  EXPECT_EQ(SumOf(account), 260) << "50 ns are free, whatever the causes";
}

TEST(AccountOfSteps, ComputingHidesCommunication) {
  AccountRank rank;
  rank.Launch(rank.stream, 0, 100, "gemm");
  rank.Launch(rank.other, 50, 180, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  const StepAccount account = AccountOf(rank);
  EXPECT_EQ(account.all_ns, 180);
  EXPECT_EQ(account.total_ns.at({AccountKind::kComputing, "cube"}), 100);
  EXPECT_EQ(SumOf(account), 180);
  int64_t exposed_ns = 0;
  for (const auto& [key, ns] : account.total_ns) {
    if (key.kind != AccountKind::kComputing && key.kind != AccountKind::kFree) exposed_ns += ns;
  }
  EXPECT_EQ(exposed_ns, 80);
}

TEST(AccountOfSteps, ARankWithoutDeviceWorkHasNone) {
  AccountRank rank;
  const StepAccount account = AccountOf(rank);
  EXPECT_EQ(account.steps, 0);
  EXPECT_TRUE(account.total_ns.empty());
}

TEST(CompareAccounts, BarsAddUpToTheStepsToTheNanosecond) {
  // Thirds of a nanosecond on every bar: rounded one by one they would not add up.
  StepAccount a{.steps = 3, .all_ns = 100, .total_ns = {}};
  a.total_ns = {{{AccountKind::kComputing, "matmul"}, 40},
                {{AccountKind::kComputing, "other"}, 31},
                {{AccountKind::kFree, "gap.short"}, 29}};
  StepAccount b{.steps = 7, .all_ns = 300, .total_ns = {}};
  b.total_ns = {{{AccountKind::kComputing, "matmul"}, 143},
                {{AccountKind::kWait, "tp"}, 150},
                {{AccountKind::kFree, "gap.short"}, 7}};
  const Waterfall waterfall = CompareAccounts(a, b);
  EXPECT_EQ(waterfall.a_ns, 33);  // 33.3
  EXPECT_EQ(waterfall.b_ns, 43);  // 42.9
  int64_t a_ns = 0;
  int64_t b_ns = 0;
  int64_t change_ns = 0;
  for (const Waterfall::Bar& bar : waterfall.bars) {
    a_ns += bar.a_ns;
    b_ns += bar.b_ns;
    change_ns += bar.change_ns();
  }
  EXPECT_EQ(a_ns, 33);
  EXPECT_EQ(b_ns, 43);
  EXPECT_EQ(change_ns, 10);
  ASSERT_EQ(waterfall.bars.size(), 4u);
  EXPECT_EQ(waterfall.bars[0].key.name, "other") << "by kind, the largest change first";
}

TEST(CompareAccounts, ASideWithoutWorkIsMissing) {
  const Waterfall waterfall = CompareAccounts({.steps = 1, .all_ns = 5, .total_ns = {}}, {});
  EXPECT_FALSE(waterfall.is_missing_a);
  EXPECT_TRUE(waterfall.is_missing_b);
}

}  // namespace
}  // namespace steplens::analysis::compare
