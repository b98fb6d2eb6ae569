#include "analysis/viewer/explain.h"

#include <gtest/gtest.h>

#include "analysis/viewer/explain_common.h"
#include "analysis/viewer/test_rank.h"

namespace steplens::analysis::viewer {
namespace {

double ShareOf(const Explanation& explanation, std::string_view key) {
  for (const Evidence& item : explanation.items) {
    if (item.wording.key == key) return item.share;
  }
  return -1;
}

TEST(Word, FillsInArgumentsOnce) {
  EXPECT_EQ(Word("k", "{a} and {b}", {{"a", "{a}{b}"}, {"b", "x"}}).text, "{a}x and x");
  EXPECT_EQ(TimeText(999), "999 ns");
  EXPECT_EQ(TimeText(1500), "1.5 us");
  EXPECT_EQ(TimeText(999600), "1 ms");
  EXPECT_EQ(TimeText(2500000), "2.5 ms");
  EXPECT_EQ(TimeText(999600000), "1 s");
  EXPECT_EQ(TimeText(1234000000000), "1234 s");
}

TEST(FindGap, IsBetweenTwoTasks) {
  TestRank rank;
  rank.Task("a", "Add", 0, 10);
  rank.Task("b", "Add", 50, 60);
  EXPECT_EQ(*FindGap(rank.store, rank.stream, 20), (Interval{10, 50}));
  EXPECT_EQ(FindGap(rank.store, rank.stream, 5).error().message,
            "a task runs at this time: there is no gap");
  EXPECT_EQ(FindGap(rank.store, rank.stream, 70).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(FindGap(rank.store, store::TrackId{99}, 70).error().code, ErrorCode::kNotFound);
}

// The next task is launched late: first the host is to blame, then the launch.
TEST(ExplainGap, DividesTheGapByCause) {
  TestRank rank;
  rank.Task("a", "Add", 0, 100);
  rank.Task("b", "Add", 1100, 1200);
  rank.Slice(rank.host, 0, 800, "DataLoader.__next__", "cpu_op");
  rank.Slice(rank.host, 800, 1000, "aten::add", "cpu_op");
  rank.Flow("async_npu", rank.host, 800, rank.stream, 1100);
  const store::Job job = JobOf(rank);
  const auto why = ExplainGap(job, 0, store::TrackId{3}, {100, 1100});
  ASSERT_TRUE(why.ok());
  EXPECT_DOUBLE_EQ(ShareOf(*why, "gap.host_bound"), 0.7);
  EXPECT_DOUBLE_EQ(ShareOf(*why, "gap.launch"), 0.3);
  EXPECT_EQ(why->verdict.key, "gap.host_bound");
  EXPECT_DOUBLE_EQ(ShareOf(*why, "gap.data_loader"), 0.7);
  double sum = 0;
  for (size_t i = 0; i < 4; ++i) sum += why->items[i].share;
  EXPECT_DOUBLE_EQ(sum, 1);
}

TEST(ExplainGap, CommunicationThatRunsMeanwhileIsTheCause) {
  TestRank rank;
  rank.Task("a", "Add", 0, 100);
  rank.Task("b", "Add", 1100, 1200);
  rank.Comm("hcom_allReduce__001_0_1", 50, 1050);
  rank.Flow("async_npu", rank.host, 10, rank.stream, 1100);
  const store::Job job = JobOf(rank);
  const auto why = ExplainGap(job, 0, store::TrackId{3}, {100, 1100});
  ASSERT_TRUE(why.ok());
  EXPECT_DOUBLE_EQ(ShareOf(*why, "gap.communication"), 0.95);
  EXPECT_EQ(why->verdict.key, "gap.communication");
}

TEST(ExplainGap, SaysWhenTheLaunchIsNotRecorded) {
  TestRank rank;
  rank.Task("a", "Add", 0, 100);
  rank.Task("b", "Add", 1100, 1200);
  const store::Job job = JobOf(rank);
  EXPECT_EQ(ExplainGap(job, 0, store::kNoTrack, {100, 1100})->verdict.key, "gap.unknown");
  EXPECT_FALSE(ExplainGap(job, 0, store::kNoTrack, {5, 5}).ok());
  EXPECT_FALSE(ExplainGap(job, 7, store::kNoTrack, {5, 9}).ok());
}

TEST(ExplainWait, NamesTheRankThatCameLast) {
  TestRank early(0);
  TestRank late(5);
  const store::SliceId slice = early.Comm("hcom_allReduce__001_0_1", 0, 1000);
  late.Task("Long", "MatMul", 100, 790);
  late.Comm("hcom_allReduce__001_0_1", 800, 1000);
  const store::Job job = JobOf(early, late);
  const auto why = ExplainWait(job, 0, slice);
  ASSERT_TRUE(why.ok());
  EXPECT_DOUBLE_EQ(ShareOf(*why, "wait.skew"), 0.8);
  EXPECT_DOUBLE_EQ(ShareOf(*why, "wait.transfer"), 0.2);
  EXPECT_DOUBLE_EQ(ShareOf(*why, "wait.last_computed"), 0.69);
  EXPECT_EQ(why->verdict.text, "800 ns waiting for rank 5, which came last");
  EXPECT_EQ(why->items[0].slice->rank_index, 1u);
}

TEST(ExplainWait, CannotDivideACallOfOneRank) {
  TestRank rank;
  const store::SliceId slice = rank.Comm("hcom_allReduce__001_0_1", 0, 1000);
  const store::SliceId other = rank.Slice(rank.host, 0, 10, "aten::add", "cpu_op");
  const store::Job job = JobOf(rank);
  EXPECT_EQ(ExplainWait(job, 0, slice)->verdict.key, "wait.alone");
  EXPECT_EQ(ExplainWait(job, 0, other).error().message, "the slice is no communication operator");
}

TEST(ExplainSlice, FindsWhatIsDifferent) {
  TestRank rank;
  const store::TrackId counter = rank.Thread(rank.Process("AI Core Freq"), "AI Core Freq");
  rank.store.counters.Append({.track = counter, .ts_ns = 0, .value = 1800});
  rank.store.counters.Append({.track = counter, .ts_ns = 5000, .value = 900});
  for (int64_t i = 0; i < 5; ++i) rank.Task("m", "MatMul", i * 1000, i * 1000 + 100);
  const store::SliceId slow = rank.Task("m", "MatMul", 6000, 6200);
  const store::SliceId usual = rank.Task("m", "MatMul", 7000, 7100);
  const store::SliceId alone = rank.Task("only", "MatMul", 8000, 8100);
  const store::Job job = JobOf(rank);
  EXPECT_EQ(ExplainSlice(job, 0, slow)->verdict.text, "the device ran at 900 MHz, usually at 1800");
  EXPECT_EQ(ExplainSlice(job, 0, usual)->verdict.key, "slice.usual");
  EXPECT_EQ(ExplainSlice(job, 0, alone)->verdict.key, "slice.alone");
  EXPECT_FALSE(ExplainSlice(job, 0, store::kNoSlice).ok());
}

}  // namespace
}  // namespace steplens::analysis::viewer
