#include "server/timeline/tile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>

#include "server/timeline/counter_lane.h"
#include "server/timeline/summary.h"
#include "server/timeline/test_lane.h"

namespace steplens::server {
namespace {

struct Exact {
  int64_t covered_ns = 0;
  uint32_t starts = 0;
  int64_t longest_ns = -1;
};

// What a run should say, from the slices of the row, which are in order: those before `first` are
// over when the run begins. Moves `first` on, for the runs behind.
Exact Recount(const LaneRows& lane, size_t r, int64_t from_ns, int64_t to_ns, size_t& first) {
  Exact out;
  const auto row = lane.row(r);
  const auto& columns = lane.columns();
  const auto is_over = [&](uint32_t slice) {
    return columns.begin(slice) < from_ns && columns.end(slice) <= from_ns;
  };
  while (first < row.size() && is_over(row[first])) ++first;
  for (size_t at = first; at < row.size() && columns.begin(row[at]) < to_ns; ++at) {
    const int64_t begin = columns.begin(row[at]);
    const int64_t end = columns.end(row[at]);
    const bool starts = begin >= from_ns && begin < to_ns;
    if (!starts && (begin >= to_ns || end <= from_ns)) continue;
    out.covered_ns += std::max<int64_t>(0, std::min(end, to_ns) - std::max(begin, from_ns));
    out.starts += starts ? 1 : 0;
    out.longest_ns = std::max(out.longest_ns, end - begin);
  }
  return out;
}

void CheckTile(const LaneRows& lane, size_t r, const TileSpan& span) {
  const std::vector<TileRun> runs = ComputeRuns(lane, r, span);
  uint32_t starts = 0;
  int64_t covered_ns = 0;
  size_t x = 0;
  size_t first = 0;
  for (const TileRun& run : runs) {
    ASSERT_GE(run.x0, x);  // in order, disjoint
    ASSERT_GT(run.x1, run.x0);
    ASSERT_LE(run.x1, kTileBuckets);
    x = run.x1;
    const Exact exact = Recount(lane, r, span.edge_ns(run.x0), span.edge_ns(run.x1), first);
    ASSERT_EQ(run.count, exact.starts);
    ASSERT_EQ(run.covered_ns, exact.covered_ns);
    ASSERT_EQ(lane.columns().dur_ns[run.slice], exact.longest_ns);
    starts += run.count;
    covered_ns += run.covered_ns;
  }
  // Nothing is missing: all starts and all covered time of the tile are in its runs.
  first = 0;
  const Exact whole = Recount(lane, r, span.begin_ns, span.end_ns(), first);
  ASSERT_EQ(starts, whole.starts);
  ASSERT_EQ(covered_ns, whole.covered_ns);
}

TEST(Tile, RunsAreExactForRandomSlicesAtEveryLevel) {
  std::mt19937 random(3);
  for (int round = 0; round < 30; ++round) {
    const size_t count = 50 + random() % 3000;
    const int64_t span_ns = 1000 + static_cast<int64_t>(random() % 3'000'000);
    const TestSlices slices =
        TestSlices::Random(random, count, span_ns, 1 + static_cast<int64_t>(random() % 5000));
    const LaneRows lane = slices.Lane();
    for (uint32_t level = 0; level < 14; level += 1 + static_cast<uint32_t>(random() % 3)) {
      const TileKey key{
          1, level,
          static_cast<uint32_t>((random() % static_cast<uint64_t>(span_ns)) >> (level + 10))};
      for (size_t r = 0; r < lane.rows(); ++r) CheckTile(lane, r, SpanOf(key, 0));
    }
  }
}

TEST(Tile, LevelZeroIsTheSlicesThemselves) {
  std::mt19937 random(5);
  TestSlices slices;
  int64_t t = 0;
  while (t < 1000) {
    const int64_t dur = 1 + static_cast<int64_t>(random() % 7);
    slices.Add(t, t + dur);
    t += dur + static_cast<int64_t>(random() % 3);
  }
  const LaneRows lane = slices.Lane();
  const std::vector<TileRun> runs = ComputeRuns(lane, 0, SpanOf({1, 0, 0}, 0));
  ASSERT_EQ(runs.size(), slices.begin_ns.size());
  for (size_t i = 0; i < runs.size(); ++i) {
    EXPECT_EQ(runs[i].x0, slices.begin_ns[i]);
    EXPECT_EQ(runs[i].x1, std::min<int64_t>(1024, slices.begin_ns[i] + slices.dur_ns[i]));
    EXPECT_EQ(runs[i].slice, i);
    EXPECT_EQ(runs[i].count, 1u);
  }
}

TEST(Tile, ALongSliceIsOneRunAcrossTheTile) {
  TestSlices slices;
  slices.Add(-5000, 1'000'000);
  const LaneRows lane = slices.Lane();
  const std::vector<TileRun> runs = ComputeRuns(lane, 0, SpanOf({1, 3, 2}, 0));
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].x0, 0);
  EXPECT_EQ(runs[0].x1, 1024);
  EXPECT_EQ(runs[0].count, 0u);
}

TEST(Tile, ABusyBucketIsARunOfItsOwnNamedByItsLongest) {
  TestSlices slices;
  slices.Add(0, 2);
  slices.Add(2, 5);
  slices.Add(5, 200);
  const LaneRows lane = slices.Lane();
  const std::vector<TileRun> runs = ComputeRuns(lane, 0, SpanOf({1, 4, 0}, 0));  // buckets of 16 ns
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].count, 3u);
  EXPECT_EQ(runs[0].slice, 2u);
  EXPECT_EQ(runs[0].x1, 1);
  EXPECT_EQ(runs[1].count, 0u);
  EXPECT_EQ(runs[1].x1, 13);
}

template <typename T>
T At(const std::string& bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

TEST(Tile, HasTheDocumentedLayout) {
  TestSlices slices;
  slices.Add(100, 164, 3);
  const LaneRows lane = slices.Lane();
  std::string out;
  AppendSliceTile(out, {7, 1, 0}, lane, 0, {true});
  EXPECT_EQ(At<uint32_t>(out, 0), out.size());
  EXPECT_EQ(At<uint32_t>(out, 4), 7u);
  EXPECT_EQ(At<uint8_t>(out, 8), 1);  // level
  EXPECT_EQ(At<uint8_t>(out, 9), 1);  // slices
  EXPECT_EQ(At<uint32_t>(out, 12), 0u);
  EXPECT_EQ(At<uint16_t>(out, 16), 1);  // rows
  EXPECT_EQ(At<uint32_t>(out, 20), 1u);
  EXPECT_EQ(At<uint16_t>(out, 24), 50);
  EXPECT_EQ(At<uint16_t>(out, 28), 82);
  EXPECT_EQ(At<uint32_t>(out, 32), 3u);  // name
  EXPECT_EQ(At<uint32_t>(out, 36), 0u);  // slice
  EXPECT_EQ(At<uint16_t>(out, 40), 1);   // count
  EXPECT_EQ(At<uint8_t>(out, 44), 255);  // coverage
  EXPECT_EQ(At<uint8_t>(out, 48), 8);    // has an arrow
  EXPECT_EQ(out.size(), 52u);
}

TEST(Tile, ShadesFollowTheFlagsIfThereAreSome) {
  TestSlices slices;
  slices.Add(0, 10);
  slices.Add(20, 30);
  const LaneRows lane = slices.Lane();
  std::string plain;
  AppendSliceTile(plain, {7, 0, 0}, lane, 0, {});
  std::string shaded;
  const std::vector<uint8_t> shades = {40, 200};
  AppendSliceTile(shaded, {7, 0, 0}, lane, 0, {}, shades);
  EXPECT_EQ(At<uint16_t>(plain, 10), 0);
  EXPECT_EQ(At<uint16_t>(shaded, 10), kTileHasShades);
  ASSERT_EQ(shaded.size(), plain.size() + 4);
  EXPECT_EQ(At<uint8_t>(shaded, plain.size()), 40);
  EXPECT_EQ(At<uint8_t>(shaded, plain.size() + 1), 200);
}

TEST(Tile, WithoutSlicesIsEmpty) {
  TestSlices slices;
  slices.Add(100, 164);
  const LaneRows lane = slices.Lane();
  std::string out;
  AppendSliceTile(out, {7, 0, 5}, lane, 0, {});
  EXPECT_EQ(out.size(), 16u);
  EXPECT_EQ(At<uint8_t>(out, 9), 4);
}

TEST(TileKey, RefusesTilesBeyondAllTimes) {
  EXPECT_TRUE((TileKey{1, 44, 100}).IsSane());
  EXPECT_FALSE((TileKey{1, 45, 0}).IsSane());
  EXPECT_FALSE((TileKey{1, 44, UINT32_MAX}).IsSane());
  EXPECT_TRUE((TileKey{1, 0, UINT32_MAX}).IsSane());
}

// The times in which any slice runs, in order, none touching the next.
std::vector<std::pair<int64_t, int64_t>> UnionOf(std::initializer_list<const TestSlices*> lanes) {
  std::vector<std::pair<int64_t, int64_t>> all;
  for (const TestSlices* slices : lanes) {
    for (size_t i = 0; i < slices->begin_ns.size(); ++i)
      all.emplace_back(slices->begin_ns[i], slices->begin_ns[i] + slices->dur_ns[i]);
  }
  std::sort(all.begin(), all.end());
  std::vector<std::pair<int64_t, int64_t>> out;
  for (const auto& [begin, end] : all) {
    if (out.empty() || begin > out.back().second) {
      out.emplace_back(begin, end);
    } else {
      out.back().second = std::max(out.back().second, end);
    }
  }
  return out;
}

TEST(Summary, CoversWhatAnyLaneCovers) {
  std::mt19937 random(9);
  for (int round = 0; round < 20; ++round) {
    const TestSlices a = TestSlices::Random(random, 2000, 1 << 20, 700);
    const TestSlices b = TestSlices::Random(random, 500, 1 << 20, 3000);
    const LaneRows lane_a = a.Lane();
    const LaneRows lane_b = b.Lane();
    const Summary summary({&lane_a, &lane_b});
    const std::vector<std::pair<int64_t, int64_t>> busy = UnionOf({&a, &b});
    for (const uint32_t level : {0u, 4u, 8u, 10u}) {
      const TileSpan span = SpanOf({1, level, 0}, 0);
      const std::vector<int64_t> covered = summary.Covered(span);
      size_t first = 0;
      for (size_t bucket = 0; bucket < covered.size(); ++bucket) {
        const int64_t from = span.edge_ns(bucket);
        const int64_t to = span.edge_ns(bucket + 1);
        int64_t exact = 0;
        while (first < busy.size() && busy[first].second <= from) ++first;
        for (size_t at = first; at < busy.size() && busy[at].first < to; ++at)
          exact += std::min(busy[at].second, to) - std::max(busy[at].first, from);
        const auto slack = static_cast<double>(span.bucket_ns()) / 16 + 1;
        ASSERT_LE(std::abs(static_cast<double>(covered[bucket] - exact)), slack)
            << "level " << level << " bucket " << bucket;
      }
    }
  }
}

TEST(Summary, IsCountedWhenItIsFirstAskedForAndOnceForAllCopies) {
  std::mt19937 random(4);
  const TestSlices slices = TestSlices::Random(random, 3000, 1 << 20, 500);
  const LaneRows lane = slices.Lane();
  const Summary summary({&lane});
  const Summary copy = summary;
  EXPECT_EQ(summary.bytes(), 0u);
  EXPECT_EQ(copy.slices(), 3000u);
  std::vector<int64_t> here;
  std::vector<int64_t> there;
  const TileSpan span = SpanOf({1, 10, 0}, 0);
  std::thread other([&] { there = copy.Covered(span); });
  here = summary.Covered(span);
  other.join();
  EXPECT_EQ(here, there);
  EXPECT_GT(std::accumulate(here.begin(), here.end(), int64_t{0}), 0);
  EXPECT_GT(copy.bytes(), 0u);
  EXPECT_EQ(copy.bytes(), summary.bytes());
}

TEST(CounterTile, KeepsPeaksAndTheValueThatHolds) {
  const std::vector<int64_t> ts = {0, 5, 6, 7, 2000};
  const std::vector<double> values = {1, 2, 50, 3, 4};
  const CounterLane lane({ts, values, {}, 1}, {0, 1, 2, 3, 4});
  std::string out;
  AppendCounterTile(out, {3, 2, 0}, lane, 0);  // buckets of 4 ns
  ASSERT_EQ(At<uint32_t>(out, 20), 3u);
  EXPECT_EQ(At<uint16_t>(out, 26), 1);            // second point: bucket 1
  EXPECT_EQ(At<float>(out, 32 + 4), 2.0f);        // its least
  EXPECT_EQ(At<float>(out, 32 + 12 + 4), 50.0f);  // its greatest: the peak
  EXPECT_EQ(At<float>(out, 32 + 24 + 4), 3.0f);   // its last
  out.clear();
  AppendCounterTile(out, {3, 0, 1}, lane, 0);  // 1024 ... 2047
  ASSERT_EQ(At<uint32_t>(out, 20), 2u);
  EXPECT_EQ(At<uint16_t>(out, 24), 0);
  EXPECT_EQ(At<float>(out, 28), 3.0f);  // holds since 7
}

}  // namespace
}  // namespace steplens::server
