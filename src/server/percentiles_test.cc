#include "server/percentiles.h"

#include <gtest/gtest.h>

#include <vector>

namespace steplens::server {
namespace {

TEST(Percentiles, AreNearestRanks) {
  std::vector<int64_t> values;
  for (int64_t i = 100; i >= 1; --i) values.push_back(i);
  EXPECT_EQ(Percentile(values, 50), 50);
  EXPECT_EQ(Percentile(values, 99), 99);
  std::vector<int64_t> few = {30, 10, 20};
  EXPECT_EQ(Percentile(few, 50), 20);
  EXPECT_EQ(Percentile(few, 90), 30);
}

TEST(Percentiles, AllAtOnceAreThoseOfEach) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < 1000; ++i) {
    values.push_back(i * 7919 % 1009);
    std::vector<int64_t> all = values;
    std::vector<int64_t> each = values;
    const Percentiles got = PercentilesOf(all);
    ASSERT_EQ(got.p50, Percentile(each, 50));
    ASSERT_EQ(got.p90, Percentile(each, 90));
    ASSERT_EQ(got.p99, Percentile(each, 99));
  }
  EXPECT_EQ(PercentilesOf({}).p50, 0);
}

}  // namespace
}  // namespace steplens::server
