#include "base/progress_line.h"

#include <gtest/gtest.h>

namespace steplens {
namespace {

constexpr uint64_t kMb = 1000000;

TEST(FormatProgress, ShowsShareRateAndTimeLeft) {
  EXPECT_EQ(FormatProgress("reading", 250 * kMb, 1000 * kMb, 0.5, 80),
            "reading [=======                       ]  25%  500 MB/s  2 s left");
  EXPECT_EQ(FormatProgress("reading", 1000 * kMb, 1000 * kMb, 2, 80),
            "reading [==============================] 100%  500 MB/s  0 s left");
}

TEST(FormatProgress, LongJobsCountInMinutesAndHours) {
  EXPECT_TRUE(FormatProgress("r", kMb, 91 * kMb, 1, 80).ends_with("1 min 30 s left"));
  EXPECT_TRUE(FormatProgress("r", kMb, 3701 * kMb, 1, 80).ends_with("1 h 01 min left"));
  EXPECT_TRUE(FormatProgress("r", 1, ~uint64_t{0}, 1, 80).ends_with("99 h 59 min left"));
}

TEST(FormatProgress, NeverExceedsTheWidth) {
  for (size_t width = 0; width < 100; ++width) {
    for (const uint64_t total : {uint64_t{0}, 1000 * kMb}) {
      EXPECT_LE(FormatProgress("a title of some length", 250 * kMb, total, 0.5, width).size(),
                width);
    }
  }
}

TEST(FormatProgress, MoreThanTheTotalIsAllOfIt) {
  EXPECT_NE(FormatProgress("r", 20, 10, 1, 80).find("100%"), std::string::npos);
}

TEST(FormatProgress, WithoutATotalThereIsNoBar) {
  EXPECT_EQ(FormatProgress("reading", 12 * kMb, 0, 4, 80), "reading 12 MB  3 MB/s");
}

}  // namespace
}  // namespace steplens
