#include "cluster/rank_message.h"

#include <gtest/gtest.h>

#include "base/archive.h"

namespace steplens::cluster {
namespace {

TEST(RankMessage, ComesBackAsItWasPacked) {
  const std::string bytes =
      ToBytes(RankMessage{true, 0640, "part", {{"", 0, 0}, {"index", 700, 30}}});
  const auto message = FromBytes<RankMessageView>(bytes);
  ASSERT_TRUE(message);
  EXPECT_TRUE(message->is_cached);
  EXPECT_EQ(message->readers, 0640u);
  EXPECT_EQ(message->part, "part");
  EXPECT_EQ(message->rendered,
            (std::vector<RenderedText<std::string_view>>{{"", 0, 0}, {"index", 700, 30}}));
  const std::string plain = ToBytes(RankMessage{});
  ASSERT_TRUE(FromBytes<RankMessageView>(plain));
  EXPECT_TRUE(FromBytes<RankMessageView>(plain)->rendered.empty());
}

TEST(RankMessage, DamageGivesNothing) {
  const std::string bytes = ToBytes(RankMessage{false, 0644, "part", {{"index", 5, 3}}});
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(FromBytes<RankMessageView>(std::string_view(bytes).substr(0, size))) << size;
  EXPECT_FALSE(FromBytes<RankMessageView>(bytes + "x"));
}

}  // namespace
}  // namespace steplens::cluster
