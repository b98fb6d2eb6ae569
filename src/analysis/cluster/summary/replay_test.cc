#include "analysis/cluster/summary/replay.h"

#include <gtest/gtest.h>

namespace steplens::analysis::cluster {
namespace {

constexpr int64_t kMs = 1'000'000;

// Ranks that work and meet: in each step everybody works `work_ms` of it, then all meet in one call
// that takes 2 ms.
struct Meeting {
  std::vector<std::vector<double>> work_ms;  // by step, then rank
  std::string group = "world";
};

std::vector<JobCall> Schedule(const Meeting& meeting) {
  std::vector<JobCall> calls;
  const size_t ranks = meeting.work_ms[0].size();
  int64_t now_ns = 0;
  for (size_t step = 0; step < meeting.work_ms.size(); ++step) {
    JobCall& call = calls.emplace_back();
    call.group = meeting.group;
    call.op = "hcom_allReduce";
    call.step = "step" + std::to_string(step / 2);
    int64_t ready_ns = 0;
    std::vector<int64_t> starts_ns;
    for (size_t rank = 0; rank < ranks; ++rank) {
      starts_ns.push_back(now_ns + static_cast<int64_t>(meeting.work_ms[step][rank] * kMs));
      ready_ns = std::max(ready_ns, starts_ns.back());
    }
    now_ns = ready_ns + 2 * kMs;
    for (size_t rank = 0; rank < ranks; ++rank) {
      call.members.push_back(
          {static_cast<int64_t>(rank), now_ns - starts_ns[rank], starts_ns[rank]});
      call.recorded.push_back(
          RecordedTimes{TimesSource::kResults, 2 * kMs, ready_ns - starts_ns[rank], 0});
    }
  }
  return calls;
}

std::vector<ReplayRank> Ranks(int64_t count) {
  std::vector<ReplayRank> ranks;
  for (int64_t rank = 0; rank < count; ++rank) ranks.push_back({rank, 0, 0, 10 * kMs});
  return ranks;
}

ReplayFault WorkOf(std::vector<int64_t> ranks) {
  ReplayFault fault;
  fault.ranks = std::move(ranks);
  return fault;
}

TEST(Replay, ASlowRankCostsWhatTheOthersWaitForIt) {
  Replay replay(Schedule({{{5, 5, 8, 5}, {5, 5, 8, 5}, {5, 5, 8, 5}, {5, 5, 8, 5}}}), Ranks(4), {},
                2);
  ASSERT_TRUE(replay.is_sound());
  const std::vector<ReplayCost> costs = replay.CostsOf({WorkOf({2})});
  EXPECT_NEAR(costs[0].ms, 6, 1e-6) << "3 ms before each of two calls of a step";
  EXPECT_NEAR(costs[0].mending_ms, 6, 1e-6);
}

TEST(Replay, AFaultBehindALargerOneCostsNothingYet) {
  Replay replay(Schedule({{{5, 6, 8, 5, 5}, {5, 6, 8, 5, 5}}}), Ranks(5), {}, 1);
  ASSERT_TRUE(replay.is_sound());
  const std::vector<ReplayCost> costs = replay.CostsOf({WorkOf({2}), WorkOf({1})});
  EXPECT_NEAR(costs[0].ms, 6, 1e-6);
  EXPECT_NEAR(costs[0].mending_ms, 4, 1e-6) << "then rank 1 is the last";
  EXPECT_NEAR(costs[1].ms, 2, 1e-6);
  EXPECT_NEAR(costs[1].mending_ms, 0, 1e-6);
}

TEST(Replay, ASlowTransferCostsWhatTheCallTakesLonger) {
  Replay replay(Schedule({{{5, 5, 5}, {5, 5, 5}}}), Ranks(3), {}, 1);
  ReplayFault slow;
  slow.transfers_ns[0] = kMs / 2;
  ReplayFault slower;
  slower.transfers_ns[0] = kMs;
  const std::vector<ReplayCost> costs = replay.CostsOf({slow, slower});
  EXPECT_NEAR(costs[0].ms, 0.5, 1e-6);
  EXPECT_NEAR(costs[0].mending_ms, 0, 1e-6) << "the slower one holds the call up";
  EXPECT_NEAR(costs[1].ms, 1, 1e-6);
  EXPECT_NEAR(costs[1].mending_ms, 0.5, 1e-6);
}

TEST(Replay, ClocksThatAreWrongChangeNothing) {
  std::vector<JobCall> calls = Schedule({{{5, 5, 8, 5}, {5, 5, 8, 5}}});
  std::vector<ReplayRank> ranks = Ranks(4);
  for (JobCall& call : calls) call.members[1].start_ns -= 700 * kMs;
  ranks[1].offset_ns = 700 * kMs;
  Replay replay(calls, ranks, {}, 1);
  ASSERT_TRUE(replay.is_sound());
  EXPECT_NEAR(replay.CostsOf({WorkOf({2})})[0].ms, 6, 1e-6);
}

TEST(Replay, ExpertsWorkBetweenTheirTwoCalls) {
  Replay replay(Schedule({{{5, 5}, {9, 3}}, "moe"}), Ranks(2), {{"moe", "exp"}}, 1);
  ASSERT_TRUE(replay.is_sound());
  EXPECT_EQ(replay.ExpertWorkMs(), (std::map<int64_t, double>{{0, 9}, {1, 3}}));
  ReplayFault uneven = WorkOf({0, 1});
  uneven.is_uneven = true;
  EXPECT_NEAR(replay.CostsOf({uneven})[0].ms, 3, 1e-6) << "6 ms each instead of 9 and 3";
}

TEST(Replay, AStageIsComparedWithOthersThatDoTheSame) {
  std::vector<ReplayRank> ranks = Ranks(4);
  for (ReplayRank& rank : ranks) rank.stage = rank.rank / 2;
  Replay replay(Schedule({{{5, 5, 8, 8}, {5, 5, 8, 8}, {5, 5, 8, 8}, {5, 5, 8, 8}}}), ranks, {}, 2);
  ASSERT_TRUE(replay.is_sound());
  EXPECT_NEAR(replay.CostsOf({WorkOf({2, 3})})[0].ms, 6, 1e-6);
}

TEST(Replay, SaysWhenTheTimesDoNotFitTogether) {
  std::vector<JobCall> calls = Schedule({{{5, 5}, {5, 5}}});
  calls[1].members[0].start_ns += 500 * kMs;  // long after the other left
  calls[1].members[0].dur_ns = 400 * kMs;
  EXPECT_FALSE(Replay(calls, Ranks(2), {}, 1).is_sound());
  EXPECT_FALSE(Replay({}, Ranks(2), {}, 1).is_sound());
}

}  // namespace
}  // namespace steplens::analysis::cluster
