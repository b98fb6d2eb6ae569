#include "analysis/cluster/summary/late_ranks.h"

#include <gtest/gtest.h>

#include "analysis/cluster/summary/robust.h"

namespace steplens::analysis::cluster {
namespace {

// Ranks that wait 30 ms in a step of 100 and compute 50, with a little noise.
std::vector<RankLoad> Healthy(int64_t count) {
  std::vector<RankLoad> ranks;
  for (int64_t rank = 0; rank < count; ++rank) {
    RankLoad load;
    load.rank = rank;
    load.host = "node" + std::to_string(rank / 4);
    load.step_ms = 100;
    load.computing_ms = 50 + 0.1 * static_cast<double>(rank % 3);
    load.suffered_ms = 30 - 0.1 * static_cast<double>(rank % 3);
    load.at = Coordinates{rank % 2, 0, rank / 2, 0, 0};
    ranks.push_back(load);
  }
  return ranks;
}

void MakeLate(RankLoad& rank, double RankLoad::* field) {
  rank.suffered_ms -= 20;
  rank.*field += 20;
}

TEST(FindLateRanks, NamesNobodyInAHealthyJob) {
  std::vector<RankLoad> ranks = Healthy(16);
  EXPECT_TRUE(FindLateRanks(ranks).empty());
}

TEST(FindLateRanks, NamesTheRankThatWaitsLeastAndWhy) {
  std::vector<RankLoad> ranks = Healthy(16);
  MakeLate(ranks[5], &RankLoad::computing_ms);
  const std::vector<LateGroup> late = FindLateRanks(ranks);
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late[0].dimension, "rank");
  EXPECT_EQ(late[0].index, "5");
  EXPECT_NEAR(late[0].late_ms, 20, 0.5);
  EXPECT_EQ(late[0].reason, LateReason::kComputing);
  EXPECT_GT(ranks[5].compute_percent, 35);
}

TEST(FindLateRanks, TellsAHostThatLaunchesLateFromSlowComputing) {
  std::vector<RankLoad> ranks = Healthy(16);
  MakeLate(ranks[3], &RankLoad::free_ms);
  const std::vector<LateGroup> late = FindLateRanks(ranks);
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late[0].reason, LateReason::kHost);
}

TEST(FindLateRanks, NamesTheHostWhenAllOfItIsLate) {
  std::vector<RankLoad> ranks = Healthy(16);
  for (size_t i = 4; i < 8; ++i) MakeLate(ranks[i], &RankLoad::computing_ms);
  const std::vector<LateGroup> late = FindLateRanks(ranks);
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late[0].dimension, "host");
  EXPECT_EQ(late[0].index, "node1");
  EXPECT_EQ(late[0].ranks, (std::vector<int64_t>{4, 5, 6, 7}));
}

TEST(FindLateRanks, LeavesOutRanksThatOthersMadeLate) {
  std::vector<RankLoad> ranks = Healthy(16);
  MakeLate(ranks[5], &RankLoad::computing_ms);
  ranks[4].suffered_ms -= 15;  // late without a reason of its own
  const std::vector<LateGroup> late = FindLateRanks(ranks);
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late[0].index, "5");
}

TEST(FindLateRanks, NamesAStageThatComputesLonger) {
  std::vector<RankLoad> ranks = Healthy(16);
  for (size_t i = 8; i < 16; ++i) {
    ranks[i].at->pp = 1;
    ranks[i].computing_ms += 15;
  }
  const std::vector<LateGroup> late = FindLateRanks(ranks);
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late[0].dimension, "pp");
  EXPECT_EQ(late[0].index, "1");
}

// Stages of `size` ranks, on hosts of `host_size`.
std::vector<RankLoad> Pipeline(int64_t count, int64_t size, int64_t host_size) {
  std::vector<RankLoad> ranks = Healthy(count);
  for (RankLoad& rank : ranks) {
    rank.at->pp = rank.rank / size;
    rank.host = "node" + std::to_string(rank.rank / host_size);
  }
  return ranks;
}

TEST(FindLateRanks, NamesAStageWhoseHostsLaunchLate) {
  std::vector<RankLoad> ranks = Pipeline(16, 4, 2);
  for (size_t i = 4; i < 8; ++i) ranks[i].free_ms += 15;
  const std::vector<LateGroup> late = FindLateRanks(ranks);
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late[0].dimension, "pp");
  EXPECT_EQ(late[0].index, "1");
  EXPECT_EQ(late[0].reason, LateReason::kHost);
}

TEST(FindLateRanks, NamesAStageOfOneRank) {
  std::vector<RankLoad> ranks = Pipeline(8, 1, 4);
  ranks[5].computing_ms += 15;
  const std::vector<LateGroup> late = FindLateRanks(ranks);
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late[0].dimension, "pp");
  EXPECT_EQ(late[0].index, "5");
  EXPECT_EQ(late[0].ranks, (std::vector<int64_t>{5}));
  EXPECT_EQ(late[0].host, "");  // which has other stages, too
}

TEST(FindLateRanks, NamesTheHostWhereSomeOfItWaitForEachOther) {
  std::vector<RankLoad> ranks = Healthy(16);
  for (size_t i = 4; i < 8; ++i) MakeLate(ranks[i], &RankLoad::computing_ms);
  ranks[5].suffered_ms += 12;
  ranks[6].suffered_ms += 12;
  const std::vector<LateGroup> late = FindLateRanks(ranks);
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late[0].dimension, "host");
  EXPECT_EQ(late[0].index, "node1");
  EXPECT_EQ(late[0].reason, LateReason::kComputing);
  EXPECT_FALSE(late[0].is_hidden);
}

TEST(FindLateRanks, NamesTheHostOfSlowStages) {
  std::vector<RankLoad> ranks = Pipeline(16, 2, 4);
  for (size_t i = 4; i < 8; ++i) ranks[i].computing_ms += 15;
  const std::vector<LateGroup> late = FindLateRanks(ranks);
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late[0].dimension, "host");
  EXPECT_EQ(late[0].index, "node1");
  EXPECT_EQ(late[0].ranks, (std::vector<int64_t>{4, 5, 6, 7}));
}

TEST(FindLateRanks, SaysWhereAStageIsThatIsAHost) {
  std::vector<RankLoad> ranks = Pipeline(16, 4, 4);
  for (size_t i = 4; i < 8; ++i) ranks[i].computing_ms += 15;
  const std::vector<LateGroup> late = FindLateRanks(ranks);
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late[0].dimension, "pp");
  EXPECT_EQ(late[0].host, "node1");
}

TEST(FindLateRanks, TellsUnevenExpertsFromSlowRanks) {
  std::vector<RankLoad> ranks = Healthy(16);
  for (RankLoad& rank : ranks) {
    rank.at->ep = rank.rank / 2 % 4;
    rank.expert_ms = 20 + 5 * (static_cast<double>(rank.at->ep) - 1.5);
    rank.computing_ms += rank.expert_ms - 20;
    rank.suffered_ms -= rank.expert_ms - 20;
  }
  std::vector<LateGroup> late = FindLateRanks(ranks);
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late[0].reason, LateReason::kExperts);
  EXPECT_EQ(late[0].dimension, "ep");
  EXPECT_EQ(late[0].index, "3");
  MakeLate(ranks[2], &RankLoad::computing_ms);
  late = FindLateRanks(ranks);
  ASSERT_EQ(late.size(), 2u);
  EXPECT_EQ(late[0].index, "2");
  EXPECT_EQ(late[0].reason, LateReason::kComputing);
}

TEST(FindLateRanks, NamesNobodyForWaitsThatWereNotRecorded) {
  std::vector<RankLoad> ranks = Healthy(8);
  ranks[3].has_calls = false;
  ranks[3].suffered_ms = 0;
  EXPECT_TRUE(FindLateRanks(ranks).empty());
}

TEST(Robust, MedianAndSpreadIgnoreAnOutlier) {
  EXPECT_DOUBLE_EQ(Median({}), 0);
  EXPECT_DOUBLE_EQ(Median({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(Median({4, 1, 2, 3}), 2.5);
  EXPECT_LT(RobustSpread({10, 10.1, 9.9, 10.05, 1000}), 0.2);
}

TEST(FindLateRanks, NamesWhatALargerFaultHides) {
  std::vector<RankLoad> ranks = Healthy(16);
  MakeLate(ranks[5], &RankLoad::computing_ms);
  ranks[9].computing_ms += 6;  // waits as long as the others: rank 5 is later
  ranks[12].free_ms += 4;
  const std::vector<LateGroup> late = FindLateRanks(ranks);
  ASSERT_EQ(late.size(), 3u);
  EXPECT_EQ(late[0].index, "5");
  EXPECT_FALSE(late[0].is_hidden);
  EXPECT_EQ(late[1].index, "9");
  EXPECT_TRUE(late[1].is_hidden);
  EXPECT_EQ(late[1].reason, LateReason::kComputing);
  EXPECT_NEAR(late[1].late_ms, 6, 0.2);
  EXPECT_EQ(late[2].index, "12");
  EXPECT_EQ(late[2].reason, LateReason::kHost);
}

TEST(FindLateRanks, NamesAHiddenGroupOnce) {
  std::vector<RankLoad> ranks = Healthy(16);
  MakeLate(ranks[0], &RankLoad::computing_ms);
  for (size_t i = 8; i < 12; ++i) ranks[i].computing_ms += 6;
  const std::vector<LateGroup> late = FindLateRanks(ranks);
  ASSERT_EQ(late.size(), 2u);
  EXPECT_EQ(late[1].dimension, "host");
  EXPECT_EQ(late[1].index, "node2");
  EXPECT_EQ(late[1].ranks.size(), 4u);
}

TEST(FindLateRanks, TellsASlowDeviceThatHasASlowLinkToo) {
  std::vector<RankLoad> ranks = Healthy(16);
  MakeLate(ranks[5], &RankLoad::transit_ms);
  ranks[5].computing_ms += 8;
  const std::vector<LateGroup> late = FindLateRanks(ranks);
  ASSERT_EQ(late.size(), 2u);
  EXPECT_EQ(late[0].reason, LateReason::kTransfers);
  EXPECT_EQ(late[1].index, "5");
  EXPECT_EQ(late[1].reason, LateReason::kComputing);
}

}  // namespace
}  // namespace steplens::analysis::cluster
