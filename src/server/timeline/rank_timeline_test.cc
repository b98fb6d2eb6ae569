#include "server/timeline/rank_timeline.h"

#include <gtest/gtest.h>

#include "analysis/testing/store_builder.h"

namespace steplens::server {
namespace {

const Lane* FindPath(const RankTimeline& timeline, std::string_view path) {
  for (const auto& lane : timeline.lanes()) {
    if (lane->path == path) return lane.get();
  }
  return nullptr;
}

// Kernels of 60 ns every 100 ns; the last ends after `pause_ns` more.
store::Job Kernels(int64_t count, int64_t pause_ns) {
  analysis::StoreBuilder builder;
  const auto stream = builder.ThreadOf("Ascend Hardware", "Stream 2");
  for (int64_t i = 0; i < count; ++i)
    builder.Slice(stream, 1000 + 100 * i, 1060 + 100 * i, "a", "AI_CORE");
  const int64_t last = 1000 + 100 * count + pause_ns;
  builder.Slice(stream, last, last + 60, "a", "AI_CORE");
  return builder.Job();
}

// The viewer may take 1.3 times the store: of that, lanes and what is derived have a share.
TEST(RankTimeline, DerivedLanesTakeFewBytesASlice) {
  constexpr int64_t kCount = 20'000;
  const store::Job job = Kernels(kCount, 0);
  ThreadPool pool(2);
  const auto timeline = RankTimeline::Build(job.ranks[0], pool);
  const Lane* computing = FindPath(*timeline, "r0/overlap/computing");
  const Lane* idle = FindPath(*timeline, "r0/overlap/free");
  ASSERT_NE(computing, nullptr);
  ASSERT_NE(idle, nullptr);
  EXPECT_EQ(computing->count, uint64_t{kCount + 1});
  EXPECT_EQ(idle->count, uint64_t{kCount});
  EXPECT_LT(timeline->bytes(), 3 * kCount * 10);
}

TEST(RankTimeline, DerivedLanesHoldPausesOfAnyLength) {
  constexpr int64_t kHour = 3'600'000'000'000;
  const store::Job job = Kernels(3, kHour);
  ThreadPool pool(1);
  const auto timeline = RankTimeline::Build(job.ranks[0], pool);
  const Lane* idle = FindPath(*timeline, "r0/overlap/free");
  ASSERT_NE(idle, nullptr);
  ASSERT_EQ(idle->count, 3u);
  EXPECT_EQ(idle->rows.columns().begin(0), 1060);
  EXPECT_EQ(idle->rows.columns().dur(0), 40);
  EXPECT_EQ(idle->rows.columns().begin(2), 1260);
  EXPECT_EQ(idle->rows.columns().dur(2), 40 + kHour);
  EXPECT_EQ(idle->rows.columns().end(2), 1300 + kHour);
}

}  // namespace
}  // namespace steplens::server
