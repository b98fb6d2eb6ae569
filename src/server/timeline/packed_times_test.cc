#include "server/timeline/packed_times.h"

#include <gtest/gtest.h>

namespace steplens::server {
namespace {

constexpr int64_t kFourSeconds = int64_t{1} << 32;

TEST(PackedTimes, GiveBackWhatWasPacked) {
  std::vector<int64_t> begin_ns;
  std::vector<int64_t> dur_ns;
  for (int64_t i = 0; i < 200; ++i) {
    begin_ns.push_back(1'736'412'474'714'493'390 + i * i * 100'003);
    dur_ns.push_back(i % 7 == 0 ? 0 : kFourSeconds - 1 - i);
  }
  const auto packed = PackedTimes::Pack(begin_ns, dur_ns);
  ASSERT_TRUE(packed);
  for (size_t i = 0; i < begin_ns.size(); ++i) {
    EXPECT_EQ(packed->begin(i), begin_ns[i]);
    EXPECT_EQ(packed->dur(i), dur_ns[i]);
  }
}

TEST(PackedTimes, AreRefusedWhereTheyDoNotFit) {
  const auto packs = [](std::vector<int64_t> begin_ns, std::vector<int64_t> dur_ns) {
    return PackedTimes::Pack(begin_ns, dur_ns).has_value();
  };
  EXPECT_TRUE(packs({}, {}));
  EXPECT_TRUE(packs({0, kFourSeconds - 1}, {kFourSeconds - 1, 0}));
  EXPECT_FALSE(packs({0, 1}, {1, kFourSeconds}));
  EXPECT_FALSE(packs({0, kFourSeconds}, {1, 1}));
  EXPECT_FALSE(packs({INT64_MIN, INT64_MAX}, {1, 0}));
}

TEST(Ascending, IsSharedAndLongEnough) {
  const auto few = Ascending(10);
  ASSERT_GE(few.size(), 10u);
  EXPECT_EQ(Ascending(5).data(), few.data());
  const auto more = Ascending(few.size() + 1);
  ASSERT_GT(more.size(), few.size());
  EXPECT_EQ(more[few.size()], few.size());
  EXPECT_EQ(few[9], 9u);  // the shorter one is still there
}

}  // namespace
}  // namespace steplens::server
