#include "cluster/rank_message.h"

#include <gtest/gtest.h>

namespace steplens::cluster {
namespace {

TEST(RankMessage, ComesBackAsItWasPacked) {
  const std::string bytes = PackMessage({true, "part", {"", "text", "x"}});
  const auto message = UnpackMessage(bytes);
  ASSERT_TRUE(message);
  EXPECT_TRUE(message->is_cached);
  EXPECT_EQ(message->part, "part");
  EXPECT_EQ(message->rendered, (std::vector<std::string_view>{"", "text", "x"}));
  const std::string plain = PackMessage({false, "", {}});
  ASSERT_TRUE(UnpackMessage(plain));
  EXPECT_TRUE(UnpackMessage(plain)->rendered.empty());
}

TEST(RankMessage, DamageGivesNothing) {
  const std::string bytes = PackMessage({false, "part", {"text"}});
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(UnpackMessage(std::string_view(bytes).substr(0, size))) << size;
  EXPECT_FALSE(UnpackMessage(bytes + "x"));
  std::string huge = bytes;
  for (size_t i = 1; i < 9; ++i) huge[i] = '\xff';
  EXPECT_FALSE(UnpackMessage(huge));
}

}  // namespace
}  // namespace steplens::cluster
