#include "base/memory_limit.h"

#include <gtest/gtest.h>

namespace steplens {
namespace {

TEST(ParseMemory, KnowsUnitsSharesAndNone) {
  EXPECT_EQ(*ParseMemory("4096"), 4096u);
  EXPECT_EQ(*ParseMemory("8G"), uint64_t{8} << 30);
  EXPECT_EQ(*ParseMemory("1.5GiB"), uint64_t{3} << 29);
  EXPECT_EQ(*ParseMemory("512MB"), uint64_t{512} << 20);
  EXPECT_EQ(*ParseMemory("none"), 0u);
  EXPECT_EQ(*ParseMemory("100%"), AvailableMemory());
  EXPECT_NEAR(static_cast<double>(*ParseMemory("50%")), static_cast<double>(AvailableMemory()) / 2,
              2);
}

TEST(ParseMemory, RefusesWhatIsNoSize) {
  for (const char* text : {"", "G", "0", "-1", "8X", "1e300G", "all", "8 G"}) {
    const Result<uint64_t> size = ParseMemory(text);
    ASSERT_FALSE(size.ok()) << text;
    EXPECT_EQ(size.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST(AvailableMemory, IsThatOfAMachine) {
  EXPECT_GT(AvailableMemory(), uint64_t{64} << 20);
  EXPECT_LT(AvailableMemory(), uint64_t{1} << 50);
}

}  // namespace
}  // namespace steplens
