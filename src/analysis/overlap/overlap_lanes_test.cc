#include "analysis/overlap/overlap_lanes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "analysis/overlap/cover.h"
#include "analysis/testing/random.h"
#include "analysis/viewer/test_rank.h"

namespace steplens::analysis {
namespace {

using viewer::TestRank;

TEST(Cover, MeasuresWhatIsCovered) {
  const Cover cover({{30, 40}, {0, 10}, {10, 20}, {5, 5}});
  EXPECT_EQ(cover.runs().size(), 2u);
  EXPECT_EQ(cover.total_ns(), 30);
  EXPECT_EQ(cover.Within({15, 35}), 10);
  EXPECT_EQ(cover.Within({-5, 100}), 30);
  EXPECT_EQ(cover.Within({20, 30}), 0);
  EXPECT_EQ(Cover().Within({0, 10}), 0);
}

TEST(Cover, SubtractLeavesWhatTheOtherDoesNotCover) {
  const std::vector<Interval> a{{0, 10}, {20, 30}};
  const std::vector<Interval> b{{5, 25}};
  EXPECT_EQ(Subtract(a, b), (std::vector<Interval>{{0, 5}, {25, 30}}));
  EXPECT_TRUE(Subtract({}, b).empty());
}

TEST(ComputeOverlapLanes, TakesTheCapturesOwn) {
  TestRank rank;
  const store::TrackId computing = rank.ThreadOf("Overlap Analysis", "Computing");
  rank.Slice(computing, 0, 10, "Computing");
  rank.Slice(computing, 10, 15, "Free");
  const auto lanes = ComputeOverlapLanes(rank.store);
  ASSERT_EQ(lanes.size(), 1u);
  EXPECT_TRUE(lanes[0].is_delivered);
  EXPECT_EQ(lanes[0].TotalNs(), 15);
}

TEST(ComputeOverlapLanes, DerivedLanesReachFromTheFirstToTheLastTask) {
  TestRank rank;
  rank.Slice(rank.stream, 0, 5, "EVENT_WAIT");
  rank.Task("MatMul1", "MatMulV2", 10, 30);
  rank.Comm("hcom_allReduce__001_0_1", 20, 50);
  rank.Slice(rank.stream, 60, 70, "EVENT_RECORD");
  const auto lanes = ComputeOverlapLanes(rank.store);
  ASSERT_EQ(lanes.size(), 1u);
  EXPECT_EQ(lanes[0].computing, (std::vector<Interval>{{10, 30}}));
  EXPECT_EQ(lanes[0].communication, (std::vector<Interval>{{20, 50}}));
  EXPECT_EQ(lanes[0].not_overlapped, (std::vector<Interval>{{30, 50}}));
  EXPECT_EQ(lanes[0].free, (std::vector<Interval>{{0, 10}, {50, 70}}));
}

TEST(ComputeOverlapLanes, PartsFillTheRangeWhateverRuns) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    TestRank rank;
    int64_t first_ns = 1000;
    int64_t last_ns = 0;
    for (int i = 0; i < 20; ++i) {
      const int64_t begin_ns = RandomBelow(random, 900);
      const int64_t end_ns = begin_ns + 1 + RandomBelow(random, 80);
      first_ns = std::min(first_ns, begin_ns);
      last_ns = std::max(last_ns, end_ns);
      if (i % 3 == 0) {
        rank.Comm("hcom_allReduce__001_0_1", begin_ns, end_ns);
      } else {
        rank.Task("MatMul1", "MatMulV2", begin_ns, end_ns);
      }
    }
    const OverlapLanes lanes = ComputeOverlapLanes(rank.store).at(0);
    EXPECT_EQ(lanes.TotalNs(), last_ns - first_ns);
  }
}

}  // namespace
}  // namespace steplens::analysis
