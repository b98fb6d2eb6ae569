#include "analysis/overlap/overlap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>

#include "analysis/overlap/sweep.h"
#include "analysis/testing/random.h"

namespace steplens::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Intervals = std::vector<Interval>;

Intervals RandomIntervals(std::mt19937& random) {
  Intervals intervals;
  for (int64_t n = RandomBelow(random, 8); n > 0; --n) {
    const int64_t begin_ns = RandomBelow(random, 100);
    intervals.push_back({begin_ns, begin_ns + RandomBelow(random, 30)});
  }
  SortIntervals(intervals);
  return intervals;
}

bool Covers(const Intervals& intervals, int64_t ts_ns) {
  for (const Interval& in : intervals) {
    if (in.begin_ns <= ts_ns && ts_ns < in.end_ns) return true;
  }
  return false;
}

TEST(SortIntervals, OrdersByBeginAndEndHoweverFarFromTheirPlaces) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    Intervals intervals;
    const int64_t displacement = round % 3 == 0 ? 1 : round % 3 == 1 ? 40 : 100000;
    for (int64_t i = 0; i < 1 + RandomBelow(random, 200); ++i) {
      const int64_t begin_ns = 10 * i + RandomBelow(random, displacement);
      intervals.push_back({begin_ns, begin_ns + RandomBelow(random, 5)});
    }
    Intervals expected = intervals;
    std::sort(expected.begin(), expected.end(), [](const Interval& a, const Interval& b) {
      return std::pair(a.begin_ns, a.end_ns) < std::pair(b.begin_ns, b.end_ns);
    });
    SortIntervals(intervals);
    ASSERT_EQ(intervals, expected) << round;
  }
}

TEST(ComputeOverlap, NothingRunningIsAllFree) {
  const OverlapParts parts = ComputeOverlap({}, {}, {10, 50});
  EXPECT_EQ(parts.free_ns, 40);
  EXPECT_EQ(parts.compute_only_ns + parts.comm_only_ns + parts.overlapped_ns, 0);
}

TEST(ComputeOverlap, StreamsThatOverlapEachOtherCountOnce) {
  const Intervals compute{{0, 10}, {2, 4}, {5, 15}};
  EXPECT_EQ(ComputeOverlap(compute, {}, {0, 20}).compute_only_ns, 15);
}

TEST(ComputeOverlap, SplitsPartialOverlap) {
  const OverlapParts parts = ComputeOverlap(Intervals{{0, 10}}, Intervals{{6, 18}}, {0, 20});
  EXPECT_EQ(parts.compute_only_ns, 6);
  EXPECT_EQ(parts.overlapped_ns, 4);
  EXPECT_EQ(parts.comm_only_ns, 8);
  EXPECT_EQ(parts.free_ns, 2);
}

TEST(ComputeOverlap, ClipsToWindow) {
  const OverlapParts parts = ComputeOverlap(Intervals{{0, 100}}, Intervals{{90, 200}}, {50, 95});
  EXPECT_EQ(parts.compute_only_ns, 40);
  EXPECT_EQ(parts.overlapped_ns, 5);
}

TEST(ComputeOverlap, EmptyWindowHasNoParts) {
  const OverlapParts parts = ComputeOverlap(Intervals{{0, 100}}, {}, {50, 50});
  EXPECT_EQ(parts.compute_only_ns + parts.free_ns, 0);
}

TEST(ComputeOverlap, PartsAlwaysFillTheWindow) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const Intervals compute = RandomIntervals(random);
    const Intervals comm = RandomIntervals(random);
    const int64_t begin_ns = RandomBelow(random, 60);
    const Interval window{begin_ns, begin_ns + RandomBelow(random, 80)};
    const OverlapParts parts = ComputeOverlap(compute, comm, window);
    OverlapParts expected;
    for (int64_t t = window.begin_ns; t < window.end_ns; ++t) {
      const bool a = Covers(compute, t);
      const bool b = Covers(comm, t);
      ++(a ? (b ? expected.overlapped_ns : expected.compute_only_ns)
           : (b ? expected.comm_only_ns : expected.free_ns));
    }
    ASSERT_EQ(parts.compute_only_ns, expected.compute_only_ns);
    ASSERT_EQ(parts.comm_only_ns, expected.comm_only_ns);
    ASSERT_EQ(parts.overlapped_ns, expected.overlapped_ns);
    ASSERT_EQ(parts.free_ns, expected.free_ns);
  }
}

TEST(UnionLength, CountsCoveredTimeOnce) {
  EXPECT_EQ(UnionLength(Intervals{{0, 10}, {5, 8}, {10, 12}, {20, 20}, {30, 31}}), 13);
  EXPECT_EQ(UnionLength({}), 0);
}

using Piece = std::pair<PieceKind, Interval>;

std::vector<Piece> Pieces(const Intervals& compute, const Intervals& comm, Interval window) {
  std::vector<Piece> pieces;
  ForEachPiece(compute, comm, window,
               [&](PieceKind kind, Interval in) { pieces.emplace_back(kind, in); });
  return pieces;
}

TEST(ForEachPiece, CutsTheWindowLikeTheOverlapAnalysisTrack) {
  EXPECT_THAT(Pieces({{10, 20}, {15, 30}}, {{25, 40}}, {0, 50}),
              ElementsAre(Piece{PieceKind::kFree, {0, 10}}, Piece{PieceKind::kCompute, {10, 30}},
                          Piece{PieceKind::kComm, {25, 40}}, Piece{PieceKind::kCommOnly, {30, 40}},
                          Piece{PieceKind::kFree, {40, 50}}));
}

TEST(ForEachPiece, MergesTouchingIntervalsAndIgnoresAnEmptyWindow) {
  EXPECT_THAT(Pieces({{0, 5}, {5, 9}}, {}, {0, 9}),
              ElementsAre(Piece{PieceKind::kCompute, {0, 9}}));
  EXPECT_THAT(Pieces({{0, 5}}, {}, {3, 3}), IsEmpty());
}

TEST(ForEachPiece, CoversWhatItsDefinitionSays) {
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    const Intervals compute = RandomIntervals(random);
    const Intervals comm = RandomIntervals(random);
    std::array<Intervals, 4> found;
    for (const auto& [kind, in] : Pieces(compute, comm, {0, 140})) {
      Intervals& list = found[static_cast<size_t>(kind)];
      if (!list.empty()) {
        ASSERT_LT(list.back().end_ns, in.begin_ns);
      }
      list.push_back(in);
    }
    for (int64_t t = 0; t < 140; ++t) {
      const bool a = Covers(compute, t);
      const bool b = Covers(comm, t);
      ASSERT_EQ(Covers(found[0], t), a);
      ASSERT_EQ(Covers(found[1], t), b);
      ASSERT_EQ(Covers(found[2], t), b && !a);
      ASSERT_EQ(Covers(found[3], t), !a && !b);
    }
  }
}

}  // namespace
}  // namespace steplens::analysis
