#include "analysis/cluster/recipes/rank_timeline.h"
#include "analysis/cluster/recipes/recipes.h"
#include "analysis/cluster/recipes/test_ask.h"

namespace steplens::analysis::cluster {
namespace {

constexpr int64_t kUs = 1000;

// An operator on the host, its launch, its kernel.
void Kernel(TestRank& rank, const char* name, int64_t host_us, int64_t begin_us, int64_t end_us) {
  const int64_t connection = rank.next_connection++;
  rank.Slice(rank.host, host_us * kUs, (host_us + 2) * kUs, std::string("aten::") + name, "cpu_op");
  rank.Slice(rank.cann, (host_us + 3) * kUs, (host_us + 4) * kUs, "Node@launch", "", connection);
  rank.Slice(rank.stream, begin_us * kUs, end_us * kUs, name, "AI_CORE", connection);
  rank.Flow("async_npu", rank.host, host_us * kUs, rank.stream, begin_us * kUs);
  rank.StoreBuilder::Kernel(name, name, "AI_CORE", begin_us * kUs, end_us * kUs);
}

// Both ranks end the collective at 2000 us; on the second one `Mul` runs 400 us longer.
struct TwoRanks {
  TwoRanks() {
    Kernel(fast, "Add", 10, 500, 600);
    Kernel(fast, "Mul", 20, 1000, 1100);
    Kernel(fast, "Sub", 30, 1100, 1200);
    fast.Comm("hcom_allReduce__1_0_1", "g", 1200 * kUs, 2000 * kUs);
    Kernel(slow, "Add", 10, 500, 600);
    Kernel(slow, "Mul", 20, 1000, 1500);
    Kernel(slow, "Sub", 30, 1500, 1600);
    slow.Comm("hcom_allReduce__1_0_1", "g", 1600 * kUs, 2000 * kUs);
  }
  TestRank fast{0};
  TestRank slow{1};
};

std::string ReasonOf(const Result<Answer>& answer) {
  return answer->tables[0].table.Find("reason")->texts.at(0);
}

TEST(CommunicationBottleneck, NamesTheFirstTaskThatDiverges) {
  const TwoRanks ranks;
  const Result<Answer> answer = Ask(CommunicationBottleneckRecipe(), {&ranks.fast, &ranks.slow});
  EXPECT_EQ(ReasonOf(answer),
            "[Device-bound] first diverging task Sub: starts 400.0 us late, runs 0.0 us longer "
            "(before it Mul ran 400.0 us longer); lag 400.0 us");
  EXPECT_EQ(answer->tables[0].table.Find("slowRankId")->ints[0], 1);
  EXPECT_EQ(answer->tables[0].table.Find("fastRankId")->ints[0], 0);
}

// Two of eight ranks: the last to arrive may be any of the other six.
TEST(CommunicationBottleneck, BlamesNobodyWhereRanksAreNotCaptured) {
  TwoRanks ranks;
  for (TestRank* rank : {&ranks.fast, &ranks.slow}) NameGroup(*rank, "g", 8);
  const Result<Answer> answer = Ask(CommunicationBottleneckRecipe(), {&ranks.fast, &ranks.slow});
  EXPECT_EQ(ReasonOf(answer),
            "[Failed] 2 of 8 ranks captured: the last to arrive may be one of the others");
  EXPECT_EQ(answer->tables[0].table.Find("slowRankId")->ints[0], table::kNull);
  ASSERT_EQ(answer->notes.size(), 1u);
  EXPECT_TRUE(answer->notes[0].starts_with("nobody is blamed for 1 call:")) << answer->notes[0];
}

TEST(CommunicationBottleneck, ALagBelowAMillisecondIsAlignedInCompatMode) {
  const TwoRanks ranks;
  Options options;
  options.compat = true;
  EXPECT_EQ(ReasonOf(Ask(CommunicationBottleneckRecipe(), {&ranks.fast, &ranks.slow}, options)),
            "[Device-bound]Device: max duration-diff op Sub, diff 0.0 us, max start-time-diff op "
            "Sub, diff 400.0 us.");
}

TEST(CommunicationBottleneck, TheTargetMayComeAfterOtherRanks) {
  const TwoRanks ranks;
  Options options;
  options.values["rank_id"] = "1";
  const Result<Answer> answer =
      Ask(CommunicationBottleneckRecipe(), {&ranks.fast, &ranks.slow}, options);
  EXPECT_EQ(answer->tables[0].table.Find("duration(us)")->doubles[0], 400);
  EXPECT_EQ(answer->tables[0].table.Find("slowRankId")->ints[0], 1);
}

TEST(CommunicationBottleneck, EqualDurationsHaveNoSlowRank) {
  const TwoRanks ranks;
  TestRank twin(1);
  twin.Comm("hcom_allReduce__1_0_1", "g", 1210 * kUs, 2000 * kUs);
  EXPECT_EQ(ReasonOf(Ask(CommunicationBottleneckRecipe(), {&ranks.fast, &twin})),
            "[Completed] No slow rank: the durations differ by less than 5 %");
}

TEST(CommunicationBottleneck, AnAbsentTargetIsAnError) {
  const TwoRanks ranks;
  Options options;
  options.values["rank_id"] = "9";
  const Result<Answer> answer = Ask(CommunicationBottleneckRecipe(), {&ranks.fast}, options);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().message, "--rank_id: there is no capture of rank 9");
}

TEST(Timeline, KeepsTheTasksNearestBeforeTheOperators) {
  TestRank rank(0);
  const auto count = static_cast<int64_t>(kMostTasks) + 1000;
  for (int64_t i = 0; i < count; ++i)
    rank.StoreBuilder::Kernel("k", "k", "AI_CORE", i * 10, i * 10 + 5);
  rank.Comm("hcom_allReduce__1_0_1", "g", count * 10 - 5000, count * 10);
  const std::vector<TimelineTask> kept = CollectTimeline(rank.store, false).device.Unpack();
  ASSERT_EQ(kept.size(), kMostTasks);
  EXPECT_LT(kept.back().begin_ns, count * 10 - 5000);
}

TEST(CollectTimeline, ACollectiveOfAGpuIsThereOnce) {
  StoreBuilder gpu;
  const auto stream = gpu.ThreadOf("python3.10", "stream 7");
  for (const char* name : {"gemm", "ncclKernel_AllReduce_RING_LL_Sum_float"}) {
    gpu.Slice(stream, 0, 10, name, "kernel");
    gpu.Kernel(name, "kernel", "kernel", 0, 10);
  }
  gpu.store.comm_ops.Append({.name = gpu.Text("allreduce"), .begin_ns = 0, .dur_ns = 10});
  const std::vector<TimelineTask> tasks = CollectTimeline(gpu.store, false).device.Unpack();
  ASSERT_EQ(tasks.size(), 2u);
  EXPECT_EQ(tasks[0].name, "gemm");
  EXPECT_EQ(tasks[1].name, "allreduce");
}

}  // namespace
}  // namespace steplens::analysis::cluster
