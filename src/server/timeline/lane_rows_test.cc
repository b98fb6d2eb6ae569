#include "server/timeline/lane_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "server/timeline/test_lane.h"

namespace steplens::server {
namespace {

using testing::ElementsAre;

std::vector<uint32_t> Row(const LaneRows& lane, size_t r) {
  const auto row = lane.row(r);
  return {row.begin(), row.end()};
}

TEST(LaneRows, TakesTheFirstRowThatIsFree) {
  TestSlices slices;
  slices.Add(0, 10);   // 0
  slices.Add(2, 5);    // 1: below 0
  slices.Add(5, 8);    // 2: row 1 is free again
  slices.Add(6, 7);    // 3: row 2
  slices.Add(10, 12);  // 4: row 0 is free when it begins
  const LaneRows lane = slices.Lane();
  ASSERT_EQ(lane.rows(), 3u);
  EXPECT_THAT(Row(lane, 0), ElementsAre(0, 4));
  EXPECT_THAT(Row(lane, 1), ElementsAre(1, 2));
  EXPECT_THAT(Row(lane, 2), ElementsAre(3));
}

TEST(LaneRows, IsTheGreedyRuleForRandomSlices) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    const TestSlices slices = TestSlices::Random(random, 200, 2000, 300);
    const LaneRows lane = slices.Lane();
    std::vector<uint32_t> order(slices.begin_ns.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return slices.begin_ns[a] < slices.begin_ns[b];
    });
    std::vector<std::vector<uint32_t>> rows;
    std::vector<int64_t> ends;
    for (const uint32_t slice : order) {
      size_t r = 0;
      while (r < rows.size() && ends[r] > slices.begin_ns[slice]) ++r;
      if (r == rows.size()) {
        rows.emplace_back();
        ends.push_back(0);
      }
      rows[r].push_back(slice);
      ends[r] = slices.begin_ns[slice] + slices.dur_ns[slice];
    }
    ASSERT_EQ(lane.rows(), rows.size());
    for (size_t r = 0; r < rows.size(); ++r) ASSERT_EQ(Row(lane, r), rows[r]);
  }
}

TEST(LaneRows, SumsAndFindsTheLongestOfAnyStretch) {
  std::mt19937 random(11);
  TestSlices slices;
  int64_t t = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto dur = static_cast<int64_t>(random() % 100);
    slices.Add(t, t + dur);
    t += dur + static_cast<int64_t>(random() % 3);
  }
  const LaneRows lane = slices.Lane();
  ASSERT_EQ(lane.rows(), 1u);
  for (int round = 0; round < 300; ++round) {
    const size_t from = random() % 5000;
    const int64_t until = static_cast<int64_t>(random()) % t;
    const LaneRows::Stretch got = lane.StartingBefore(0, from, until);
    LaneRows::Stretch want;
    want.end = from;
    for (size_t p = from; p < 5000 && slices.begin_ns[p] < until; ++p) {
      want.sum_ns += slices.dur_ns[p];
      if (slices.dur_ns[p] > want.longest_ns) {
        want.longest_ns = slices.dur_ns[p];
        want.longest = p;
      }
      want.end = p + 1;
    }
    ASSERT_EQ(got.end, want.end);
    ASSERT_EQ(got.sum_ns, want.sum_ns);
    ASSERT_EQ(got.longest_ns, want.longest_ns);
    if (want.end > from) {
      ASSERT_EQ(got.longest, want.longest);
    }
  }
}

TEST(LaneRows, SelfTimeLeavesOutWhatLiesInsideInTheNextRow) {
  TestSlices slices;
  slices.Add(0, 100);
  slices.Add(10, 30);
  slices.Add(40, 60);
  slices.Add(45, 50);  // two rows below: counts for its own parent only
  const LaneRows lane = slices.Lane();
  EXPECT_EQ(lane.SelfNs(0, 0), 60);
  EXPECT_EQ(lane.SelfNs(1, 2), 15);
}

TEST(LaneRows, FindsWhatTouchesARange) {
  TestSlices slices;
  slices.Add(0, 10);
  slices.Add(10, 10);
  slices.Add(20, 30);
  const LaneRows lane = slices.Lane();
  EXPECT_EQ(lane.Touching(0, 10, 20), (std::pair<size_t, size_t>{1, 2}));
  EXPECT_EQ(lane.Touching(0, 9, 21), (std::pair<size_t, size_t>{0, 3}));
  EXPECT_EQ(lane.Touching(0, 30, 40), (std::pair<size_t, size_t>{3, 3}));
}

TEST(LaneRows, SlicesNumberedByTimeInOneRowNeedNoOrderOfTheirOwn) {
  TestSlices ascending;
  TestSlices descending;
  for (int64_t i = 0; i < 5000; ++i) {
    ascending.Add(10 * i, 10 * i + 5);
    descending.Add(10 * (5000 - i), 10 * (5000 - i) + 5);
  }
  const LaneRows lean = ascending.Lane();
  const LaneRows full = descending.Lane();
  ASSERT_EQ(lean.rows(), 1u);
  ASSERT_EQ(full.rows(), 1u);
  EXPECT_EQ(lean.slice_at(4999), 4999u);
  EXPECT_EQ(full.slice_at(4999), 0u);
  EXPECT_EQ(full.bytes(), lean.bytes() + 5000 * sizeof(uint32_t));
}

TEST(LaneRows, PackedTimesGiveTheSameRows) {
  std::mt19937 random(11);
  TestSlices slices;
  int64_t begin = int64_t{1} << 60;
  for (int i = 0; i < 1000; ++i) {
    begin += static_cast<int64_t>(random() % 100);
    slices.Add(begin, begin + static_cast<int64_t>(random() % 300),
               static_cast<uint32_t>(random() % 3));
  }
  const auto packed = PackedTimes::Pack(slices.begin_ns, slices.dur_ns);
  ASSERT_TRUE(packed);
  std::vector<uint32_t> all(1000);
  std::iota(all.begin(), all.end(), 0u);
  const LaneRows lane({{}, {}, slices.name, slices.name_id, &*packed}, std::move(all));
  const LaneRows expected = slices.Lane();
  ASSERT_EQ(lane.rows(), expected.rows());
  for (size_t r = 0; r < lane.rows(); ++r) {
    EXPECT_EQ(Row(lane, r), Row(expected, r));
    const auto found = lane.StartingBefore(r, 0, begin - 500);
    const auto wanted = expected.StartingBefore(r, 0, begin - 500);
    EXPECT_EQ(found.sum_ns, wanted.sum_ns);
    EXPECT_EQ(found.longest, wanted.longest);
  }
  for (uint32_t i = 0; i < 1000; ++i) EXPECT_EQ(lane.columns().end(i), expected.columns().end(i));
}

}  // namespace
}  // namespace steplens::server
