#include "server/timeline/shades.h"

#include <gtest/gtest.h>

#include "analysis/testing/store_builder.h"

namespace steplens::server {
namespace {

TEST(PercentileShades, RankADurationAmongThoseOfItsName) {
  analysis::StoreBuilder b;
  const store::TrackId track = b.ThreadOf("Python", "main");
  b.Slice(track, 0, 30, "a");
  b.Slice(track, 0, 10, "a");
  b.Slice(track, 0, 99, "alone");
  b.Slice(track, 0, 20, "a");
  EXPECT_EQ(PercentileShades(b.store), (std::vector<uint8_t>{255, 1, 0, 128}));
}

TEST(PercentileShades, EqualDurationsAreAllInTheMiddle) {
  analysis::StoreBuilder b;
  const store::TrackId track = b.ThreadOf("Python", "main");
  for (int i = 0; i < 3; ++i) b.Slice(track, i * 10, i * 10 + 5, "a");
  EXPECT_EQ(PercentileShades(b.store), (std::vector<uint8_t>{128, 128, 128}));
}

TEST(RankShades, AreWorkedOutForWhatIsAskedFor) {
  analysis::StoreBuilder b;
  const store::TrackId track = b.ThreadOf("Python", "main");
  b.Slice(track, 0, 30, "a");
  const RankShades shades;
  EXPECT_TRUE(shades.By(ShadeBy::kNone, b.store).empty());
  EXPECT_EQ(shades.By(ShadeBy::kPercentile, b.store).size(), 1u);
  EXPECT_EQ(shades.By(ShadeBy::kModule, b.store).size(), 1u);
}

TEST(PercentileShades, OfAnEmptyStoreAreNone) {
  EXPECT_TRUE(PercentileShades(store::TraceStore()).empty());
}

}  // namespace
}  // namespace steplens::server
