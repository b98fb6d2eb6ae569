#include "analysis/cluster/recipes/recipes.h"
#include "analysis/cluster/recipes/test_ask.h"

namespace steplens::analysis::cluster {
namespace {

constexpr int64_t kUs = 1000;

// Ranks that end one collective together; `durs_us` by rank.
std::vector<TestRank> OneCall(const std::vector<int64_t>& durs_us) {
  std::vector<TestRank> ranks;
  for (size_t i = 0; i < durs_us.size(); ++i) {
    TestRank& rank = ranks.emplace_back(static_cast<int64_t>(i));
    rank.Comm("hcom_allReduce__586_0_1", "g", (10'000 - durs_us[i]) * kUs, 10'000 * kUs);
  }
  return ranks;
}

std::vector<const TestRank*> Pointers(const std::vector<TestRank>& ranks) {
  std::vector<const TestRank*> out;
  for (const TestRank& rank : ranks) out.push_back(&rank);
  return out;
}

Rows VotesOf(const std::vector<int64_t>& durs_us, bool compat = false) {
  const std::vector<TestRank> ranks = OneCall(durs_us);
  Options options;
  options.compat = compat;
  return RowsOf(Ask(SlowRankRecipe(), Pointers(ranks), options)->tables[0].table);
}

TEST(SlowRank, TwoRanksAreEnough) { EXPECT_EQ(VotesOf({500, 95}), (Rows{"1|1"})); }

// communication.json of a rank without a timeline, its group under the name that results give it.
TEST(SlowRank, CommunicationResultsServeWithoutATimeline) {
  std::vector<TestRank> ranks;
  for (const double elapse_ms : {0.5, 0.5, 0.095}) {
    TestRank& rank = ranks.emplace_back(static_cast<int64_t>(ranks.size()));
    for (const char* name : {"hcom_allReduce__586_0_1", "Total Op Info"}) {
      rank.store.comm_times.Append({.step = rank.Text("step7"),
                                    .op_name = rank.Text(name),
                                    .group_name = rank.Text("17"),
                                    .start_us = 10 - elapse_ms,
                                    .elapse_ms = elapse_ms});
    }
  }
  EXPECT_EQ(RowsOf(Ask(SlowRankRecipe(), Pointers(ranks))->tables[0].table), (Rows{"2|1"}));
}

TEST(SlowRank, NothingSeenIsNoAllClear) {
  const TestRank a(0);
  const TestRank b(1);
  const Result<Answer> answer = Ask(SlowRankRecipe(), {&a, &b});
  EXPECT_TRUE(answer->notes.empty());
  EXPECT_FALSE(answer->had_input);
}

TEST(SlowRank, TheReferenceNeedsMoreThanThreeRanks) {
  EXPECT_EQ(VotesOf({500, 95}, true), Rows{});
  EXPECT_EQ(VotesOf({500, 499, 498, 497, 496, 95}, true), (Rows{"5|1"}));
}

TEST(SlowRank, ScatterIsNoVote) { EXPECT_EQ(VotesOf({500, 300, 400, 350, 450, 280}), Rows{}); }

TEST(SlowRank, SeveralRanksMayBeLate) {
  EXPECT_EQ(VotesOf({500, 499, 498, 100, 500, 101}), (Rows{"3|1", "5|1"}));
}

TEST(SlowRank, CountsWhatOthersWaited) {
  const std::vector<TestRank> ranks = OneCall({500, 95, 400});
  const Result<Answer> answer = Ask(SlowRankRecipe(), Pointers(ranks));
  // Rank 0 waits 405 us for rank 1, rank 2 waits 305 us.
  EXPECT_EQ(RowsOf(answer->tables[2].table),
            (Rows{"0|1|0|0|405000", "1|1|1|710000|0", "2|1|0|0|305000"}));
}

TEST(SlowRank, StatisticsAreNanosecondsUnlessCompat) {
  const std::vector<TestRank> ranks = OneCall({500, 499, 498, 497, 496, 95});
  Options options;
  const auto max_of = [&] {
    const Result<Answer> answer = Ask(SlowRankRecipe(), Pointers(ranks), options);
    return answer->tables[1].table.Find("MaxNs")->doubles[0];
  };
  EXPECT_EQ(max_of(), 500'000);
  options.compat = true;
  EXPECT_EQ(max_of(), 500);
}

TEST(SlowRank, DropsOnlyCallsThatAMemberDidNotRecord) {
  std::vector<TestRank> ranks = OneCall({500, 95});
  ranks[0].Comm("hcom_allReduce__586_1_1", "g", 20'000 * kUs, 30'000 * kUs);
  const Result<Answer> answer = Ask(SlowRankRecipe(), Pointers(ranks));
  EXPECT_EQ(RowsOf(answer->tables[0].table), (Rows{"1|1"}));
  ASSERT_EQ(answer->notes.size(), 2u);
  EXPECT_EQ(answer->notes[0],
            "1 calls were recorded by some members of their group only and are left out");
  EXPECT_EQ(answer->notes[1],
            "the captures do not say how many ranks the groups of 1 call have: a rank that was not "
            "captured may have come last");
}

// Two of eight ranks: the last to arrive may be any of the other six.
TEST(SlowRank, BlamesNobodyWhereRanksAreNotCaptured) {
  std::vector<TestRank> ranks = OneCall({500, 95});
  for (TestRank& rank : ranks) NameGroup(rank, "g", 8);
  const Result<Answer> answer = Ask(SlowRankRecipe(), Pointers(ranks));
  for (const ResultTable& result : answer->tables) EXPECT_EQ(result.table.rows(), 0u);
  EXPECT_EQ(answer->notes,
            (std::vector<std::string>{
                "nobody is blamed for 1 call: ranks of the group are not among the captures (2 of "
                "8 ranks captured), and the last to arrive may be one of them"}));
  std::vector<TestRank> all = OneCall({500, 95});
  for (TestRank& rank : all) NameGroup(rank, "g", 2);
  EXPECT_EQ(RowsOf(Ask(SlowRankRecipe(), Pointers(all))->tables[0].table), (Rows{"1|1"}));
}

TEST(SlowRank, SendsAndReceivesHaveNoVote) {
  TestRank a(0);
  a.Comm("hcom_send__586_0_1", "g", 1000 * kUs, 2000 * kUs);
  TestRank b(1);
  b.Comm("hcom_send__586_0_1", "g", 1900 * kUs, 2000 * kUs);
  EXPECT_EQ(RowsOf(Ask(SlowRankRecipe(), {&a, &b})->tables[0].table), Rows{});
}

}  // namespace
}  // namespace steplens::analysis::cluster
