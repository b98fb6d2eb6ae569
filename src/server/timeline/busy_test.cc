#include "server/timeline/busy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "server/timeline/range_stats.h"
#include "server/timeline/test_lane.h"

namespace steplens::server {
namespace {

// What is covered, nanosecond by nanosecond.
std::vector<bool> Marked(const std::vector<TestSlices>& lanes, int64_t length) {
  std::vector<bool> out(static_cast<size_t>(length), false);
  for (const TestSlices& lane : lanes) {
    for (size_t i = 0; i < lane.begin_ns.size(); ++i) {
      for (int64_t t = lane.begin_ns[i]; t < std::min(length, lane.begin_ns[i] + lane.dur_ns[i]);
           ++t)
        out[static_cast<size_t>(t)] = true;
    }
  }
  return out;
}

int64_t CountMarked(const std::vector<bool>& marked, int64_t t0, int64_t t1) {
  return std::count(marked.begin() + std::clamp<int64_t>(t0, 0, std::ssize(marked)),
                    marked.begin() + std::clamp<int64_t>(t1, 0, std::ssize(marked)), true);
}

TEST(BusySweep, CoversWhatRandomLanesCover) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    constexpr int64_t kSpan = 4000;
    std::vector<TestSlices> slices;
    for (size_t i = 0; i < 1 + random() % 4; ++i)
      slices.push_back(TestSlices::Random(random, random() % 300, kSpan, 1 + random() % 200));
    std::vector<LaneRows> lanes;
    for (const TestSlices& one : slices) lanes.push_back(one.Lane());
    std::vector<const LaneRows*> pointers;
    for (const LaneRows& lane : lanes) pointers.push_back(&lane);
    const std::vector<bool> marked = Marked(slices, 2 * kSpan);
    for (int i = 0; i < 20; ++i) {
      const auto t0 = static_cast<int64_t>(random() % kSpan);
      const auto t1 = t0 + static_cast<int64_t>(random() % kSpan);
      EXPECT_EQ(CoveredNs(pointers, t0, t1), CountMarked(marked, t0, t1));
    }
    BusySweep sweep(pointers, 0, 2 * kSpan);
    int64_t last_end = -1;
    for (analysis::Interval busy; sweep.Next(busy);) {
      EXPECT_GT(busy.begin_ns, last_end);
      last_end = busy.end_ns;
    }
  }
}

TEST(LaneCover, AnswersAnyRangeAsAWalkDoes) {
  std::mt19937 random(11);
  const TestSlices slices = TestSlices::Random(random, 9000, 60'000, 40);
  const LaneRows lane = slices.Lane();
  ASSERT_GT(lane.row(0).size(), 3000U) << "several marks";
  const LaneCover cover(lane);
  const std::vector<bool> marked = Marked({slices}, 70'000);
  for (int i = 0; i < 200; ++i) {
    const auto t0 = static_cast<int64_t>(random() % 61'000) - 500;
    const auto t1 = t0 + static_cast<int64_t>(random() % 61'000);
    EXPECT_EQ(cover.CoveredNs(lane, t0, t1), CountMarked(marked, t0, t1)) << t0 << " " << t1;
  }
  EXPECT_EQ(LaneCover(LaneRows()).CoveredNs(LaneRows(), 0, 10), 0);
}

TEST(LaneRows, KnowsRowsThatLieInsideTheRowAbove) {
  TestSlices nested;
  nested.Add(0, 100);
  nested.Add(10, 50);
  nested.Add(60, 100);
  nested.Add(10, 20);
  EXPECT_TRUE(nested.Lane().LiesInside(1));
  EXPECT_TRUE(nested.Lane().LiesInside(2));
  nested.Add(90, 101);  // stands out
  EXPECT_TRUE(nested.Lane().LiesInside(1));
  EXPECT_FALSE(nested.Lane().LiesInside(2));
  EXPECT_FALSE(nested.Lane().LiesInside(0));
}

// Each statistic from its definition.
NameStats Expected(const std::vector<int64_t>& durations) {
  std::vector<int64_t> sorted = durations;
  std::sort(sorted.begin(), sorted.end());
  NameStats out;
  out.count = std::ssize(sorted);
  for (const int64_t ns : sorted) out.wall_ns += ns;
  out.min_ns = sorted.front();
  out.max_ns = sorted.back();
  const auto nearest = [&](size_t percent) {
    return sorted[(sorted.size() * percent + 99) / 100 - 1];
  };
  out.p50_ns = nearest(50);
  out.p90_ns = nearest(90);
  out.p99_ns = nearest(99);
  return out;
}

TEST(RangeStats, AreThoseOfTheSlicesInTheRangeForAnyNumberOfThreads) {
  std::mt19937 random(3);
  const TestSlices a = TestSlices::Random(random, 5000, 20'000, 300);
  const TestSlices b = TestSlices::Random(random, 700, 20'000, 900);
  const LaneRows lane_a = a.Lane();
  const LaneRows lane_b = b.Lane();
  for (const size_t threads : {1U, 2U, 7U}) {
    ThreadPool pool(threads);
    for (const bool clip : {false, true}) {
      const int64_t t0 = 3000;
      const int64_t t1 = 9000;
      std::map<uint32_t, std::vector<int64_t>> durations;
      std::map<uint32_t, int64_t> self;
      for (const auto& [slices, lane] : {std::pair(&a, &lane_a), std::pair(&b, &lane_b)}) {
        for (uint32_t i = 0; i < slices->begin_ns.size(); ++i) {
          const int64_t begin = slices->begin_ns[i];
          const int64_t end = begin + slices->dur_ns[i];
          if (end < t0 || begin > t1) continue;
          const auto name = static_cast<uint32_t>(slices->name[i]);
          durations[name].push_back(clip ? SharedNs(begin, end, t0, t1) : end - begin);
          if (!clip) self[name] += lane->SelfNs(lane->RowOf(i), i);
        }
      }
      const auto stats =
          ComputeRangeStats({{&lane_a, t0, t1}, {&lane_b, t0, t1}}, {.clip = clip}, 10, pool);
      ASSERT_EQ(stats.size(), durations.size());
      for (const NameStats& one : stats) {
        const NameStats want = Expected(durations[one.name]);
        EXPECT_EQ(one.count, want.count);
        EXPECT_EQ(one.wall_ns, want.wall_ns);
        EXPECT_EQ(one.min_ns, want.min_ns);
        EXPECT_EQ(one.max_ns, want.max_ns);
        EXPECT_EQ(one.p50_ns, want.p50_ns);
        EXPECT_EQ(one.p90_ns, want.p90_ns);
        EXPECT_EQ(one.p99_ns, want.p99_ns);
        if (!clip) {
          EXPECT_EQ(one.self_ns, self[one.name]);
        }
      }
    }
  }
}

TEST(RangeStats, OfNothingAreNone) {
  ThreadPool pool(2);
  EXPECT_TRUE(ComputeRangeStats({}, {}, 5, pool).empty());
  const LaneRows empty;
  EXPECT_TRUE(ComputeRangeStats({{&empty, 0, 10}}, {}, 0, pool).empty());
}

}  // namespace
}  // namespace steplens::server
