// What the recipes share: member lists, group names, layouts, statistics, stages.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "analysis/cluster/answer.h"
#include "analysis/cluster/communication/group_book.h"
#include "analysis/cluster/communication/local_ranks.h"
#include "analysis/cluster/group_name.h"
#include "analysis/cluster/rank_facts.h"
#include "analysis/cluster/rank_set.h"
#include "analysis/cluster/spread.h"
#include "base/archive.h"

namespace steplens::analysis::cluster {
namespace {

TEST(RankSet, KeepsAnySetAndPrintsItAsUsersKnowIt) {
  for (const std::vector<int64_t>& ranks :
       {std::vector<int64_t>{}, {3}, {0, 1}, {0, 4, 8, 12}, {0, 1, 5, 9, 13, 14, 90}}) {
    const RankSet set(ranks);
    EXPECT_EQ(set.ranks(), ranks);
    EXPECT_EQ(set.size(), ranks.size());
    for (int64_t rank = -1; rank < 100; ++rank)
      EXPECT_EQ(set.Contains(rank), std::count(ranks.begin(), ranks.end(), rank) == 1) << rank;
    EXPECT_EQ(FromBytes<RankSet>(ToBytes(set)), set);
  }
  EXPECT_EQ(RankSet({2, 0, 1, 1}).ToText(", "), "(0, 1, 2)");
  EXPECT_EQ(RankSet({0, 1}).ToText(","), "(0,1)");
  EXPECT_EQ(RankSet({3}).ToText(", "), "(3,)");
}

TEST(RankSet, ARegularGroupIsSmallHoweverManyRanksItHas) {
  std::vector<int64_t> ranks;
  for (int64_t i = 0; i < 100'000; ++i) ranks.push_back(7 + i * 8);
  EXPECT_LT(ToBytes(RankSet(ranks)).size(), 16u);
}

TEST(GroupName, IsTheDoubleHashOfTheId) {
  EXPECT_EQ(GroupName("10.0.0.1%eth0_60000_0_1700000000000000"), "3703241067009432563");
  EXPECT_EQ(GroupName("3703241067009432563"), "3703241067009432563");
  EXPECT_EQ(GroupSuffix("3703241067009432563"), "563");
}

TEST(ParseLayout, PlacesRanksInTheOrderTpCpDpPp) {
  std::string problem;
  const auto layout = ParseLayout(
      R"({"world_size": 16, "tensor_model_parallel_size": 2, "context_parallel_size": 2,)"
      R"( "data_parallel_size": 2, "pipeline_model_parallel_size": 2})",
      problem);
  ASSERT_TRUE(layout) << problem;
  const Coordinates at = CoordinatesOf(*layout, 13);
  EXPECT_EQ(at.tp, 1);
  EXPECT_EQ(at.cp, 0);
  EXPECT_EQ(at.dp, 1);
  EXPECT_EQ(at.pp, 1);
}

TEST(ParseLayout, IsNothingWhereOnlyRanksAreKnown) {
  std::string problem;
  EXPECT_FALSE(ParseLayout(R"({"rank": 1, "world_size": 2})", problem));
  EXPECT_EQ(problem, "");
}

TEST(ParseLayout, SaysWhatDoesNotFit) {
  std::string problem;
  EXPECT_FALSE(ParseLayout(R"({"world_size": 8, "data_parallel_size": 4})", problem));
  EXPECT_NE(problem.find("world_size is 8"), std::string::npos);
  EXPECT_FALSE(ParseLayout(R"({"world_size": "many"})", problem));
  EXPECT_FALSE(ParseLayout("[]", problem));
}

TEST(Spread, MatchesTheTextbookWhateverTheOrderOfMerging) {
  Spread whole;
  Spread left;
  Spread right;
  for (const int64_t value : {4, 1, 3, 2}) {
    whole.Add(value, value);
    (value > 2 ? left : right).Add(value, value);
  }
  right.Merge(left);
  for (const Spread* spread : {&whole, &right}) {
    EXPECT_EQ(spread->count(), 4);
    EXPECT_EQ(spread->sum_ns(), 10);
    EXPECT_DOUBLE_EQ(spread->mean_ns(), 2.5);
    EXPECT_DOUBLE_EQ(spread->sample_std_ns(), std::sqrt(5.0 / 3));
    EXPECT_DOUBLE_EQ(spread->population_std_ns(), std::sqrt(1.25));
    EXPECT_DOUBLE_EQ(spread->Quantile(0.25), 1.75);
    EXPECT_DOUBLE_EQ(spread->Quantile(0.5), 2.5);
    EXPECT_EQ(spread->min_rank(), 1);
    EXPECT_EQ(spread->max_rank(), 4);
  }
  Spread one;
  one.Add(7);
  EXPECT_TRUE(std::isnan(one.sample_std_ns()));
}

TEST(Spread, IsCloseBeyondTheExactLimit) {
  Spread spread;
  std::mt19937_64 random(1);
  std::vector<int64_t> values;
  for (size_t i = 0; i < 2 * Spread::kExactLimit; ++i) {
    values.push_back(1000 + static_cast<int64_t>(random() % 1'000'000));
    spread.Add(values.back());
  }
  std::sort(values.begin(), values.end());
  for (const double q : {0.01, 0.25, 0.5, 0.75, 0.99}) {
    const auto exact = static_cast<double>(
        values[static_cast<size_t>(q * static_cast<double>(values.size() - 1))]);
    EXPECT_NEAR(spread.Quantile(q), exact, 0.005 * exact) << q;
  }
  const std::optional<Spread> again = FromBytes<Spread>(ToBytes(spread));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->Quantile(0.5), spread.Quantile(0.5));
}

// A group of the metadata and its use.
void AddGroup(RankFacts& facts, std::vector<GroupUse>& used, const std::string& id,
              const std::string& pg_name, std::vector<int64_t> ranks, bool is_p2p) {
  facts.groups.push_back({id, pg_name, 0, RankSet(std::move(ranks))});
  used.push_back({GroupName(id), is_p2p});
}

TEST(Answer, NotesFollowTheNumber) {
  Answer answer;
  answer.Note(0, "{ranks} {have} no kernels");
  answer.Note(1, "{ranks} {have} no kernels and {get} none");
  answer.Note(8, "{ranks} {have} no kernels and {get} none");
  answer.Note(1, "of 3 groups {are} {their} own");
  EXPECT_EQ(answer.notes, (std::vector<std::string>{"1 rank has no kernels and gets none",
                                                    "8 ranks have no kernels and get none",
                                                    "1 of 3 groups is its own"}));
}

// A rank's links in the group "g".
LinkPart Links(int64_t largest, std::vector<int64_t> selves) {
  LinkPart part;
  part.texts = {"", "g"};
  part.sights = {{1, largest, std::move(selves)}};
  return part;
}

TEST(LocalRanks, TheMembersSeenAreAllThereAre) {
  LocalRanks ranks;
  ranks.Add(3, Links(1, {}));
  ranks.Add(7, Links(1, {}));
  EXPECT_EQ(ranks.Of("g", {}, /*compat=*/false), (std::vector<int64_t>{3, 7}));
  EXPECT_TRUE(ranks.Of("g", {}, /*compat=*/true).empty());
}

TEST(LocalRanks, OfMembersSeenInPartOnlyThoseWithALinkToThemselvesAreKnown) {
  LocalRanks ranks;
  ranks.Add(3, Links(2, {}));
  ranks.Add(7, Links(2, {2}));
  EXPECT_EQ(ranks.Of("g", {}, /*compat=*/false),
            (std::vector<int64_t>{store::kNone, store::kNone, 7}));
}

TEST(LocalRanks, MetadataCountMost) {
  RankFacts facts;
  std::vector<GroupUse> used;
  AddGroup(facts, used, "g", "tp", {4, 5}, false);
  GroupBook book;
  book.Add(facts, used);
  LinkPart part = Links(1, {1});
  part.texts[1] = GroupName("g");
  LocalRanks ranks;
  ranks.Add(4, part);
  EXPECT_EQ(ranks.Of(GroupName("g"), book, /*compat=*/false), (std::vector<int64_t>{4, 5}));
}

TEST(InferStages, FollowsChainsThatMeetLate) {
  // Links 0-4, 8-12, 4-8: the first two meet only through the third.
  GroupBook book;
  RankFacts facts;
  std::vector<GroupUse> used;
  AddGroup(facts, used, "a", "pp", {0, 4}, true);
  AddGroup(facts, used, "b", "pp", {8, 12}, true);
  AddGroup(facts, used, "c", "pp", {4, 8}, true);
  AddGroup(facts, used, "d", "tp", {0, 1}, false);
  AddGroup(facts, used, "e", "world", {0, 4, 8, 12}, false);
  book.Add(facts, used);
  const std::vector<RankSet> stages = InferStages(book, /*compat=*/false);
  ASSERT_EQ(stages.size(), 1u) << "the group of the whole chain lies in no stage";
  EXPECT_EQ(stages[0], RankSet({0, 1}));
}

TEST(InferStages, NeedsPipelineGroups) {
  GroupBook book;
  RankFacts facts;
  std::vector<GroupUse> used;
  AddGroup(facts, used, "d", "tp", {0, 1}, false);
  book.Add(facts, used);
  EXPECT_TRUE(InferStages(book, false).empty());
}

}  // namespace
}  // namespace steplens::analysis::cluster
