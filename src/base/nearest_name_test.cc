#include "base/nearest_name.h"

#include <gtest/gtest.h>

#include <vector>

namespace steplens {
namespace {

const std::vector<std::string> kNames = {"info",   "breakdown", "ops",       "query",
                                         "verify", "--json",    "--no-cache"};

TEST(NearestName, FindsWhatWasMistyped) {
  EXPECT_EQ(NearestName("brekdown", kNames), "breakdown");    // a letter missing
  EXPECT_EQ(NearestName("breakkdown", kNames), "breakdown");  // one too many
  EXPECT_EQ(NearestName("breekdown", kNames), "breakdown");   // a wrong one
  EXPECT_EQ(NearestName("berakdown", kNames), "breakdown");   // two swapped
  EXPECT_EQ(NearestName("VERIFY", kNames), "verify");
  EXPECT_EQ(NearestName("--jsno", kNames), "--json");
  EXPECT_EQ(NearestName("op", kNames), "ops");
}

TEST(NearestName, FindsTheOneNameAWordBegins) {
  EXPECT_EQ(NearestName("br", kNames), "breakdown");
  EXPECT_EQ(NearestName("--no", kNames), "--no-cache");
}

TEST(NearestName, IsSilentWhenNothingIsNear) {
  EXPECT_EQ(NearestName("nonsense", kNames), "");
  EXPECT_EQ(NearestName("", kNames), "");
  EXPECT_EQ(NearestName("x", kNames), "");
  EXPECT_EQ(NearestName(std::string(100000, 'x'), kNames), "");
  EXPECT_EQ(NearestName("info", {}), "");
}

TEST(DidYouMean, WordsTheQuestion) {
  EXPECT_EQ(DidYouMean("infp", kNames), "; did you mean 'info'?");
  EXPECT_EQ(DidYouMean("xyzzy", kNames), "");
}

}  // namespace
}  // namespace steplens
