#include "analysis/nesting/nesting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <tuple>

#include "analysis/testing/random.h"
#include "analysis/testing/store_builder.h"

namespace steplens::analysis {
namespace {

using store::kNoSlice;
using store::SliceId;
using store::TrackId;
using testing::ElementsAre;

SliceId Id(uint32_t row) { return static_cast<SliceId>(row); }

TEST(BuildTrackIndex, OrdersByBeginThenLongestThenId) {
  StoreBuilder b;
  const TrackId track = b.ThreadOf("Python", "Thread 1");
  b.Slice(track, 5, 6, "late");
  b.Slice(track, 0, 3, "inner");
  b.Slice(track, 0, 9, "outer");
  b.Slice(track, 0, 3, "inner again");
  const TrackIndex index = BuildTrackIndex(b.store);
  EXPECT_THAT(index.slices(track), ElementsAre(Id(2), Id(1), Id(3), Id(0)));
}

TEST(BuildTrackIndex, OrdersWhatWasRecordedByItsEnds) {
  std::mt19937 random(3);
  for (const bool by_end : {true, false}) {
    StoreBuilder b;
    const TrackId track = b.ThreadOf("Python", "Thread 1");
    std::vector<std::pair<int64_t, int64_t>> spans;  // end, begin; many of them start together
    for (int i = 0; i < 3000; ++i) {
      const auto begin_ns = static_cast<int64_t>(random() % 500);
      spans.emplace_back(begin_ns + static_cast<int64_t>(random() % 20), begin_ns);
    }
    if (by_end) std::sort(spans.begin(), spans.end());
    for (const auto& [end_ns, begin_ns] : spans) b.Slice(track, begin_ns, end_ns, "x");
    const TrackIndex index = BuildTrackIndex(b.store);
    const auto order = index.slices(track);
    const auto key = [&](SliceId id) {
      const auto i = static_cast<size_t>(id);
      return std::tuple(b.store.slices.begin_ns[i], -b.store.slices.dur_ns[i], id);
    };
    ASSERT_EQ(order.size(), spans.size());
    for (size_t i = 1; i < order.size(); ++i) ASSERT_LT(key(order[i - 1]), key(order[i]));
  }
}

TEST(BuildTrackIndex, KeepsTracksApartAndDropsSlicesOfNone) {
  StoreBuilder b;
  const TrackId first = b.ThreadOf("Python", "Thread 1");
  const TrackId second = b.ThreadOf("Python", "Thread 2");
  b.Slice(second, 1, 2, "b");
  b.Slice(store::kNoTrack, 0, 9, "nowhere");
  b.Slice(first, 3, 4, "a");
  const TrackIndex index = BuildTrackIndex(b.store);
  EXPECT_THAT(index.slices(first), ElementsAre(Id(2)));
  EXPECT_THAT(index.slices(second), ElementsAre(Id(0)));
  EXPECT_TRUE(index.slices(store::kNoTrack).empty());
}

TEST(BuildTrackIndex, TakesOnlyWantedSlices) {
  StoreBuilder b;
  const TrackId track = b.ThreadOf("Python", "Thread 1");
  b.Slice(track, 0, 9, "a");
  b.Slice(track, 1, 2, "b");
  const TrackIndex index = BuildTrackIndex(b.store, [](size_t row) { return row == 1; });
  EXPECT_THAT(index.slices(track), ElementsAre(Id(1)));
}

TEST(BuildTrackIndex, TakesOnlyWantedTracks) {
  StoreBuilder b;
  const TrackId first = b.ThreadOf("Python", "Thread 1");
  const TrackId second = b.ThreadOf("Python", "Thread 2");
  b.Slice(first, 0, 9, "a");
  b.Slice(second, 1, 2, "b");
  const TrackIndex index = BuildTrackIndex(b.store, std::vector<bool>{false, false, false, true});
  EXPECT_TRUE(index.slices(first).empty());
  EXPECT_THAT(index.slices(second), ElementsAre(Id(1)));
}

TEST(ComputeNesting, CountsAncestorsOfProperlyNestedSlices) {
  StoreBuilder b;
  const TrackId track = b.ThreadOf("Python", "Thread 1");
  b.Slice(track, 1, 4, "child");
  b.Slice(track, 0, 10, "parent");
  b.Slice(track, 2, 3, "grandchild");
  b.Slice(track, 4, 10, "second child");
  b.Slice(track, 10, 12, "after");
  const Nesting nesting = ComputeNesting(b.store);
  EXPECT_THAT(nesting.depth, ElementsAre(1, 0, 2, 1, 0));
  EXPECT_THAT(nesting.parent, ElementsAre(Id(1), kNoSlice, Id(0), Id(1), kNoSlice));
}

TEST(ComputeNesting, OfEqualSlicesTheFirstContainsTheSecond) {
  StoreBuilder b;
  const TrackId track = b.ThreadOf("Python", "Thread 1");
  b.Slice(track, 0, 5, "a");
  b.Slice(track, 0, 5, "b");
  EXPECT_THAT(ComputeNesting(b.store).parent, ElementsAre(kNoSlice, Id(0)));
}

TEST(ComputeNesting, ZeroLengthSliceAtTheEndIsNotInside) {
  StoreBuilder b;
  const TrackId track = b.ThreadOf("Python", "Thread 1");
  b.Slice(track, 0, 5, "a");
  b.Slice(track, 5, 5, "mark at the end");
  b.Slice(track, 5, 8, "next");
  b.Slice(track, 6, 6, "mark inside");
  const Nesting nesting = ComputeNesting(b.store);
  EXPECT_THAT(nesting.parent, ElementsAre(kNoSlice, Id(2), kNoSlice, Id(2)));
}

TEST(ComputeNesting, PartlyOverlappingSlicesAreSiblingsInRowsOfTheirOwn) {
  StoreBuilder b;
  const TrackId track = b.ThreadOf("Stream", "7");
  b.Slice(track, 0, 10, "a");
  b.Slice(track, 5, 15, "b");
  b.Slice(track, 10, 14, "inside b, beside a");
  b.Slice(track, 12, 20, "c");
  const Nesting nesting = ComputeNesting(b.store);
  EXPECT_THAT(nesting.parent, ElementsAre(kNoSlice, kNoSlice, Id(1), kNoSlice));
  EXPECT_THAT(nesting.depth, ElementsAre(0, 1, 2, 0));
}

TEST(ComputeNesting, TracksDoNotMix) {
  StoreBuilder b;
  const TrackId first = b.ThreadOf("Python", "Thread 1");
  const TrackId second = b.ThreadOf("Python", "Thread 2");
  b.Slice(first, 0, 10, "a");
  b.Slice(second, 1, 2, "b");
  EXPECT_THAT(ComputeNesting(b.store).depth, ElementsAre(0, 0));
}

TEST(ComputeNesting, SlicesAtTheEndOfTimeDoNotOverflow) {
  StoreBuilder b;
  const TrackId track = b.ThreadOf("Python", "Thread 1");
  const int64_t last_ns = std::numeric_limits<int64_t>::max();
  b.store.slices.Append({.track = track, .begin_ns = last_ns - 1, .dur_ns = last_ns});
  b.store.slices.Append({.track = track, .begin_ns = last_ns - 1, .dur_ns = 1});
  EXPECT_THAT(ComputeNesting(b.store).depth, ElementsAre(0, 1));
}

// Random slices against the definitions in the header.
TEST(ComputeNesting, FollowsItsDefinition) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    StoreBuilder b;
    const TrackId track = b.ThreadOf("Stream", "7");
    const int64_t count = 1 + RandomBelow(random, 60);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t begin_ns = RandomBelow(random, 50);
      b.Slice(track, begin_ns, begin_ns + RandomBelow(random, 20), "s");
    }
    const TrackIndex index = BuildTrackIndex(b.store);
    const Nesting nesting = ComputeNesting(b.store, index);
    const auto begin = [&](SliceId s) { return b.store.slices.begin_ns[static_cast<size_t>(s)]; };
    const auto end = [&](SliceId s) {
      return begin(s) + b.store.slices.dur_ns[static_cast<size_t>(s)];
    };
    const auto order = index.slices(track);
    for (size_t i = 0; i < order.size(); ++i) {
      SliceId parent = kNoSlice;
      for (size_t j = 0; j < i; ++j) {
        if (begin(order[i]) < end(order[j]) && end(order[i]) <= end(order[j])) parent = order[j];
      }
      const auto s = static_cast<size_t>(order[i]);
      ASSERT_EQ(nesting.parent[s], parent);
      if (parent != kNoSlice) {
        ASSERT_GT(nesting.depth[s], nesting.depth[static_cast<size_t>(parent)]);
      }
      for (size_t j = 0; j < i; ++j) {
        if (nesting.depth[static_cast<size_t>(order[j])] != nesting.depth[s]) continue;
        ASSERT_LE(end(order[j]), begin(order[i])) << "two slices of one row overlap";
      }
    }
    for (int64_t ts_ns = -1; ts_ns < 75; ++ts_ns) {
      SliceId innermost = kNoSlice;
      for (const SliceId s : order) {
        if (begin(s) <= ts_ns && ts_ns < end(s)) innermost = s;
      }
      ASSERT_EQ(nesting.InnermostAt(b.store, index, track, ts_ns), innermost);
    }
  }
}

TEST(ComputeNesting, ManySlicesThatAllOverlapStayFast) {
  StoreBuilder b;
  const TrackId track = b.ThreadOf("Stream", "7");
  constexpr int kCount = 100000;
  for (int i = 0; i < kCount; ++i) b.Slice(track, i, i + kCount, "async");
  EXPECT_EQ(ComputeNesting(b.store).depth.back(), kCount - 1);
}

}  // namespace
}  // namespace steplens::analysis
