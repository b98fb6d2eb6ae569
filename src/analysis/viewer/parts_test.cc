// The building blocks of the metrics: rounding, sequences, strategies, flames, memory curves.
#include <gtest/gtest.h>

#include "analysis/advice/rules/sequence_rules.h"
#include "analysis/cells.h"
#include "analysis/memory/memory_series.h"
#include "analysis/parallel/strategy.h"
#include "analysis/viewer/flame.h"
#include "analysis/viewer/test_rank.h"

namespace steplens::analysis::viewer {
namespace {

TEST(RoundTo, RoundsTheDoubleAsItIs) {
  EXPECT_EQ(RoundTo(252.385, 2), 252.38);  // its double is a little less
  EXPECT_EQ(RoundTo(0.125, 2), 0.13);      // exact: half away from zero
  EXPECT_EQ(RoundTo(-0.125, 2), -0.13);
  EXPECT_EQ(RoundTo(706.6146, 2), 706.61);
  EXPECT_TRUE(std::isnan(RoundTo(kNoNumber, 2)));
}

using Names = std::vector<std::string_view>;

TEST(SequenceRule, TakesAlternativesOptionsAndRepeats) {
  const SequenceRule softmax("softmax mul? masked_fill_|add");
  EXPECT_EQ(softmax.Match(Names{"softmax", "mul", "add", "x"}), 3u);
  EXPECT_EQ(softmax.Match(Names{"softmax", "masked_fill_"}), 2u);
  EXPECT_EQ(softmax.Match(Names{"softmax", "mul"}), 0u);
  EXPECT_EQ(softmax.Match(Names{}), 0u);
  const SequenceRule rotary("chunk|slice neg cat mul*2 add");
  EXPECT_EQ(rotary.Match(Names{"slice", "neg", "cat", "mul", "mul", "add"}), 6u);
  EXPECT_EQ(rotary.Match(Names{"chunk", "neg", "cat", "add"}), 4u);
  // Gives back what an optional word took too much.
  EXPECT_EQ(SequenceRule("a? a b").Match(Names{"a", "b"}), 2u);
}

TEST(FindSequences, PrefersTheLongestAndDoesNotOverlap) {
  const std::vector<SequenceRule> rules{SequenceRule("a"), SequenceRule("a b")};
  const auto found = FindSequences(Names{"a", "b", "a", "c"}, rules);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].rule, 1u);
  EXPECT_EQ(found[0].count, 2u);
  EXPECT_EQ(found[1].first, 2u);
}

Strategy Sizes(int64_t pp, int64_t tp, int64_t cp, int64_t dp, int64_t ep = 1) {
  Strategy strategy;
  strategy.pp = pp;
  strategy.tp = tp;
  strategy.cp = cp;
  strategy.dp = dp;
  strategy.ep = ep;
  return strategy;
}

TEST(Strategy, RanksCountInTheOrderOfTheAlgorithm) {
  Strategy strategy = Sizes(2, 2, 1, 2);
  EXPECT_EQ(PlaceOf(strategy, 5).tp, 1);
  EXPECT_EQ(PlaceOf(strategy, 5).dp, 0);
  EXPECT_EQ(PlaceOf(strategy, 5).pp, 1);
  strategy.algorithm = "vllm(tp-pp-dp-ep)";
  EXPECT_EQ(PlaceOf(strategy, 5).pp, 0);
  EXPECT_EQ(PlaceOf(strategy, 5).dp, 1);
  for (int64_t rank = 0; rank < 8; ++rank) {
    EXPECT_EQ(RankAt(strategy, PlaceOf(strategy, rank)), rank);
  }
}

TEST(Strategy, GroupsOfATokenDivideAllRanks) {
  const Strategy strategy = Sizes(2, 2, 2, 4, 2);
  std::map<std::string, std::vector<int64_t>> members;
  for (const ParallelGroup& group : ParallelGroups(strategy)) {
    auto& ranks = members[group.token];
    ranks.insert(ranks.end(), group.ranks.begin(), group.ranks.end());
    if (group.token == "ep") {
      EXPECT_EQ(group.ranks.size(), 2u);
    }
    if (group.token == "tp-ep-pp") {
      EXPECT_EQ(group.ranks.size(), 8u);
    }
  }
  EXPECT_EQ(members.size(), 14u);
  for (auto& [token, ranks] : members) {
    std::sort(ranks.begin(), ranks.end());
    EXPECT_EQ(ranks.size(), 32u) << token;
    EXPECT_EQ(std::unique(ranks.begin(), ranks.end()), ranks.end()) << token;
  }
}

TEST(CheckStrategy, NamesTheRuleThatIsBroken) {
  EXPECT_TRUE(CheckStrategy(Sizes(2, 2, 1, 2), 8).ok());
  EXPECT_NE(CheckStrategy(Sizes(2, 2, 1, 1), 8).error().message.find("there are 8 ranks"),
            std::string::npos);
  EXPECT_NE(CheckStrategy(Sizes(1, 1, 1, 3, 2), 1).error().message.find("DP is not divisible"),
            std::string::npos);
  EXPECT_NE(CheckStrategy(Sizes(0, 1, 1, 1), 1).error().message.find("pp is 0"), std::string::npos);
  Strategy strategy = Sizes(1, 1, 1, 1);
  strategy.algorithm = "x";
  EXPECT_NE(CheckStrategy(strategy, 1).error().message.find("no algorithm"), std::string::npos);
}

TEST(BuildFlame, NodesAddUpAndAreClipped) {
  TestRank rank;
  rank.Slice(rank.host, 0, 100, "outer");
  rank.Slice(rank.host, 10, 40, "inner");
  rank.Slice(rank.host, 50, 60, "inner");
  rank.Slice(rank.host, 12, 20, "leaf");
  const std::vector<TrackRef> tracks{{0, rank.host}};
  const store::Job job = JobOf(rank);
  const auto nodes = BuildFlame(job, tracks, {});
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes[0].total_ns, 100);
  EXPECT_EQ(nodes[0].self_ns, 60);
  EXPECT_EQ(nodes[1].count, 2);
  EXPECT_EQ(nodes[1].total_ns, 40);
  EXPECT_EQ(nodes[1].self_ns, 32);
  EXPECT_EQ(nodes[2].parent, 1u);
  const auto clipped = BuildFlame(job, tracks, {30, 55});
  EXPECT_EQ(clipped[0].total_ns, 25);
  EXPECT_EQ(clipped[1].total_ns, 15);
}

TEST(BuildFlame, InOrderOfTimeOnlyNeighboursAreOneNode) {
  TestRank rank;
  rank.Slice(rank.host, 0, 100, "outer");
  rank.Slice(rank.host, 10, 20, "a");
  rank.Slice(rank.host, 20, 30, "a");
  rank.Slice(rank.host, 30, 40, "b");
  rank.Slice(rank.host, 40, 50, "a");
  rank.Slice(rank.host, 60, 62, "x");
  rank.Slice(rank.host, 63, 64, "y");
  rank.Slice(rank.stream, 5, 90, "outer");
  const std::vector<TrackRef> tracks{{0, rank.host}, {0, rank.stream}};
  const store::Job job = JobOf(rank);
  const auto nodes = BuildFlame(job, tracks, {}, FlameOrder::kTime, 5);
  std::vector<std::string> seen;
  for (const FlameNode& node : nodes) {
    seen.push_back(node.name + " " + std::to_string(node.begin_ns) + "-" +
                   std::to_string(node.end_ns) + " x" + std::to_string(node.count));
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"outer 0-100 x1", "a 10-30 x2", "b 30-40 x1",
                                            "a 40-50 x1", "… 60-64 x2", "outer 5-90 x1"}));
  EXPECT_NE(nodes[0].track, nodes[5].track);
}

TEST(ReducePoints, KeepsEveryPeak) {
  std::vector<MemorySeries::Point> points;
  for (int64_t i = 0; i < 10000; ++i) points.push_back({i, i == 4321 ? 99 : i % 7});
  const auto reduced = ReducePoints(points, 100);
  EXPECT_LE(reduced.size(), 300u);
  EXPECT_TRUE(std::any_of(reduced.begin(), reduced.end(),
                          [](const auto& point) { return point.bytes == 99; }));
  EXPECT_EQ(reduced.back().ts_ns, 9999);
  EXPECT_EQ(ReducePoints(points, 0).size(), points.size());
  EXPECT_TRUE(ReducePoints({}, 5).empty());
}

TEST(CollectMemorySeries, AddsUpAllocationsWhereSamplesHaveNoTotals) {
  TestRank rank;
  rank.store.allocations.Append(
      {.name = rank.Text("a"), .size_bytes = 10, .alloc_ns = 1, .release_ns = 5});
  rank.store.allocations.Append({.name = rank.Text("b"), .size_bytes = 4, .alloc_ns = 3});
  bool is_derived = false;
  const auto series = CollectMemorySeries(rank.store, MemoryGrouping::kOverall, is_derived);
  EXPECT_TRUE(is_derived);
  ASSERT_EQ(series.size(), 1u);
  ASSERT_EQ(series[0].points.size(), 3u);
  EXPECT_EQ(series[0].points[1].bytes, 14);
  EXPECT_EQ(series[0].points[2].bytes, 4);
}

}  // namespace
}  // namespace steplens::analysis::viewer
