#include "server/store_view.h"

#include <gtest/gtest.h>

#include "analysis/testing/store_builder.h"

namespace steplens::server {
namespace {

TEST(ViewOf, ShowsTheDataUnderWhatWasKnownThen) {
  analysis::StoreBuilder builder;
  const auto track = builder.ThreadOf("Python", "Thread 1");
  builder.Slice(track, 5, 9, "op", "cpu_op");
  builder.store.info.rank = -1;
  const store::TraceStore view = ViewOf(builder.store);
  store::TraceStore moved = std::move(builder.store);
  moved.info.rank = 3;
  moved.issues.Add(store::IssueKind::kRankUnknown, "a");
  EXPECT_EQ(view.info.rank, -1);
  EXPECT_EQ(view.issues.entry(store::IssueKind::kRankUnknown).count, 0u);
  ASSERT_EQ(view.slices.size(), 1u);
  EXPECT_EQ(view.slices.begin_ns[0], 5);
  EXPECT_EQ(view.Text(view.slices.name[0]), "op");
  EXPECT_EQ(view.slices.begin_ns.span().data(), moved.slices.begin_ns.span().data())
      << "not copied";
}

}  // namespace
}  // namespace steplens::server
