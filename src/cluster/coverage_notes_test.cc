#include "cluster/coverage_notes.h"

#include <gtest/gtest.h>

namespace steplens::cluster {
namespace {

using analysis::cluster::RankFacts;

std::vector<RankFacts> Ranks(int64_t count) {
  std::vector<RankFacts> ranks;
  for (int64_t rank = 0; rank < count; ++rank) {
    RankFacts& facts = ranks.emplace_back();
    facts.rank = rank;
    facts.level = "Level1";
    facts.steps = {10, 11};
    facts.has_communication_results = true;
  }
  return ranks;
}

TEST(CoverageNotes, SaysNothingOfRanksThatAreAlike) {
  EXPECT_TRUE(CoverageNotes(Ranks(4), true).empty());
  std::vector<RankFacts> ranks = Ranks(4);
  for (RankFacts& rank : ranks) rank.has_communication_results = false;
  EXPECT_TRUE(CoverageNotes(ranks, true).empty());
}

TEST(CoverageNotes, CountsWhatSomeRanksLack) {
  std::vector<RankFacts> ranks = Ranks(20);
  ranks[3].has_communication_results = false;
  ranks[3].level = "Level0";
  for (size_t i = 5; i < 17; ++i) ranks[i].steps = {10};
  EXPECT_EQ(CoverageNotes(ranks, true),
            (std::vector<std::string>{
                "1 of 20 ranks has no communication results, which need level 1 or higher (rank 3)",
                "12 of 20 ranks have fewer steps than others (ranks 5, 6, 7, 8, 9, 10, 11, 12, 13, "
                "14, ...)",
                "ranks were captured at different levels: rank 3 Level0; ranks 0, 1, 2, 4, 5, 6, "
                "7, 8, 9, 10, ... Level1"}));
  EXPECT_EQ(CoverageNotes(ranks, false).size(), 2u);
}

TEST(CoverageNotes, SaysHowManyStepsAllRanksHaveIfNobodyHasAll) {
  std::vector<RankFacts> ranks = Ranks(3);
  ranks[0].steps = {10, 11};
  ranks[1].steps = {11, 12};
  ranks[2].steps = {11};
  EXPECT_EQ(CoverageNotes(ranks, true),
            (std::vector<std::string>{"no rank has all steps: 1 of 3 are in all ranks"}));
}

}  // namespace
}  // namespace steplens::cluster
