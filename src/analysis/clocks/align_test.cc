#include "analysis/clocks/align.h"

#include <gtest/gtest.h>

#include "analysis/collectives/collective_book.h"
#include "analysis/viewer/test_rank.h"

namespace steplens::analysis {
namespace {

using viewer::TestRank;

TEST(CollectiveBook, PairsByOrdinalAndLeavesOutStrangers) {
  TestRank a(0);
  TestRank b(1);
  a.Comm("hcom_allReduce__001_5_1", 0, 10, 100);
  a.Comm("hcom_allReduce__001_6_1", 20, 30, 200);
  b.Comm("hcom_allReduce__001_0_1", 5, 10, 100);
  b.Comm("hcom_allReduce__001_1_1", 25, 30, 999);
  const store::Job job = JobOf(a, b);
  const CollectiveBook book(job);
  ASSERT_EQ(book.calls().size(), 2u);
  EXPECT_EQ(book.Find(0, 0), book.Find(1, 0));
  EXPECT_EQ(book.Find(0, 0)->parts.size(), 2u);
  EXPECT_EQ(book.Find(0, 0)->ShortestNs(), 5);
  EXPECT_EQ(book.Find(0, 1)->parts.size(), 1u);  // the payloads disagree
}

// Rank 0 captured two steps, rank 1 only the second: ordinals count inside steps.
TEST(CollectiveBook, StepsDecideWhereRanksCapturedDifferentOnes) {
  TestRank a(0);
  TestRank b(1);
  a.Step(1, 0, 100);
  a.Step(2, 100, 200);
  b.Step(2, 100, 200);
  a.Comm("hcom_allReduce__001_0_1", 10, 20);
  a.Comm("hcom_allReduce__001_1_1", 110, 120);
  b.Comm("hcom_allReduce__001_1_1", 105, 120);
  const store::Job job = JobOf(a, b);
  const CollectiveBook book(job);
  EXPECT_EQ(book.Find(0, 0)->parts.size(), 1u);
  EXPECT_EQ(book.Find(0, 1), book.Find(1, 0));
  EXPECT_EQ(book.Find(0, 1)->parts.size(), 2u);
}

TEST(CollectiveBook, SendsAndReceivesAreNoCollectives) {
  TestRank a;
  a.Comm("hcom_send__001_0_1", 0, 10);
  const store::Job job = JobOf(a);
  EXPECT_EQ(CollectiveBook(job).Find(0, 0), nullptr);
}

TEST(AlignByCollectives, MovesNothingThatHolds) {
  TestRank a(0);
  TestRank b(1);
  a.Comm("hcom_allReduce__001_0_1", 0, 100);
  b.Comm("hcom_allReduce__001_0_1", 60, 110);
  const RankOffsets offsets = AlignByCollectives(JobOf(a, b));
  EXPECT_EQ(offsets.offset_ns, (std::vector<int64_t>{0, 0}));
  EXPECT_EQ(offsets.violation_ns, 0);
}

TEST(AlignByCollectives, MovesAClockThatContradictsAsLittleAsNeeded) {
  TestRank a(0);
  TestRank b(1);
  // The clock of b is ahead: it seems to start 400 ns after a has left.
  a.Comm("hcom_allReduce__001_0_1", 0, 100);
  b.Comm("hcom_allReduce__001_0_1", 500, 590);
  const RankOffsets offsets = AlignByCollectives(JobOf(a, b));
  EXPECT_EQ(offsets.offset_ns[0], 0);
  EXPECT_NEAR(static_cast<double>(offsets.offset_ns[1]), 400, 1);
  EXPECT_TRUE(offsets.failed[1].empty());
  EXPECT_EQ(offsets.violation_ns, 0);
}

// Captures of one host from two days, laid beside each other: what one clock says of both is void.
TEST(AlignByCollectives, MovesAsLittleAsNeededFromTheStart) {
  constexpr int64_t kDay = 86'400'000'000'000;
  TestRank a(0);
  TestRank b(1);
  for (TestRank* rank : {&a, &b}) {
    rank->store.meta.Append({.name = rank->Text("hostName"), .value = rank->Text("node")});
  }
  a.Comm("hcom_allReduce__001_0_1", 0, 100);
  b.Comm("hcom_allReduce__001_0_1", kDay + 500, kDay + 590);
  const std::vector<int64_t> start = {7, kDay + 7};
  const RankOffsets offsets = AlignByCollectives(JobOf(a, b), start);
  EXPECT_EQ(offsets.offset_ns, (std::vector<int64_t>{7, kDay + 407}));
  EXPECT_EQ(offsets.residual_ns[1], 95);  // between 400 and 590
}

TEST(AlignByCollectives, RanksWithoutACommonCallFail) {
  TestRank a(0);
  TestRank b(1);
  a.Comm("hcom_allReduce__001_0_1", 0, 100);
  const RankOffsets offsets = AlignByCollectives(JobOf(a, b));
  EXPECT_EQ(offsets.failed[0], "no collective that another captured rank took part in");
  EXPECT_EQ(offsets.failed[1], offsets.failed[0]);
}

TEST(AlignByCollectives, RanksThatFailKeepTheirStart) {
  TestRank a(0);
  TestRank b(1);
  const std::vector<int64_t> start = {3, 9};
  EXPECT_EQ(AlignByCollectives(JobOf(a, b), start).offset_ns, start);
}

TEST(AlignByCollectives, ContradictionsThatNoShiftSolvesAreReported) {
  TestRank a(0);
  TestRank b(1);
  a.Comm("hcom_allReduce__001_0_1", 0, 100);
  b.Comm("hcom_allReduce__001_0_1", 1000, 1100);
  a.Comm("hcom_allReduce__001_1_1", 5000, 5100);
  b.Comm("hcom_allReduce__001_1_1", 3000, 3100);
  EXPECT_GT(AlignByCollectives(JobOf(a, b)).violation_ns, 0);
}

TEST(AlignBySlice, MatchesTheKthOccurrence) {
  TestRank a(0);
  TestRank b(1);
  TestRank c(2);
  a.Slice(a.host, 0, 10, "step");
  const store::SliceId second = a.Slice(a.host, 100, 110, "step");
  b.Slice(b.host, 130, 150, "step");
  b.Slice(b.host, 30, 50, "step");
  c.Slice(c.host, 0, 10, "step");
  store::Job job = JobOf(a, b);
  job.ranks.push_back(std::move(c.store));
  job.ranks.emplace_back();
  const auto left = AlignBySlice(job, 0, second, AlignSide::kLeft, 5);
  ASSERT_TRUE(left.ok());
  EXPECT_EQ(left->offset_ns[0], 5);
  EXPECT_EQ(left->offset_ns[1], 35);
  EXPECT_EQ(left->failed[2], "Insufficient slices: has 1, need 2");
  EXPECT_EQ(left->failed[3], "Slice not found");
  EXPECT_EQ(AlignBySlice(job, 0, second, AlignSide::kRight, 0)->offset_ns[1], 40);
}

TEST(AlignBySlice, CollectivesAreMatchedByCall) {
  TestRank a(0);
  TestRank b(1);
  const store::SliceId slice = a.Comm("hcom_allReduce__001_9_1", 100, 200);
  b.Comm("hcom_allReduce__001_0_1", 150, 260);
  const store::Job job = JobOf(a, b);
  EXPECT_EQ(AlignBySlice(job, 0, slice, AlignSide::kRight, 0)->offset_ns[1], 60);
}

TEST(AlignBySlice, RefusesLanesThatMeanNothing) {
  TestRank a;
  const store::SliceId slice = a.Slice(a.ThreadOf("Overlap Analysis", "Free"), 0, 10, "Free");
  const store::Job job = JobOf(a);
  EXPECT_EQ(AlignBySlice(job, 0, slice, AlignSide::kLeft, 0).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(AlignBySlice(job, 0, store::SliceId{99}, AlignSide::kLeft, 0).error().code,
            ErrorCode::kNotFound);
}

}  // namespace
}  // namespace steplens::analysis
