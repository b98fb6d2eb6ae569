#include "server/slice_filter.h"

#include <gtest/gtest.h>

namespace steplens::server {
namespace {

SliceFilter Parse(std::string_view text, MatchMode mode = MatchMode::kContains) {
  Result<SliceFilter> filter = ParseSliceFilter(text, mode);
  EXPECT_TRUE(filter.ok()) << text;
  return filter.ok() ? *std::move(filter) : SliceFilter();
}

TEST(SliceFilter, ReadsEveryKindOfTerm) {
  const SliceFilter filter =
      Parse("name~\"mat mul\" dur>50us dur<=1.5ms rank=0,3-7 lane:hardware step=12 cat!=cpu_op");
  EXPECT_TRUE(SliceFilter::All(filter.names, "a MAT MUL b"));
  EXPECT_FALSE(SliceFilter::All(filter.names, "matmul"));
  EXPECT_EQ(filter.least_ns, 50'001);
  EXPECT_EQ(filter.most_ns, 1'500'000);
  EXPECT_TRUE(SliceFilter::Any(filter.ranks, 5));
  EXPECT_FALSE(SliceFilter::Any(filter.ranks, 2));
  EXPECT_TRUE(SliceFilter::All(filter.lanes, "rank 0 / Ascend Hardware / Stream 2"));
  EXPECT_TRUE(SliceFilter::Any(filter.steps, 12));
  EXPECT_FALSE(SliceFilter::All(filter.categories, "cpu_op"));
}

TEST(SliceFilter, TakesTextWithoutTermsAsAName) {
  const SliceFilter filter = Parse("ncclKernel: AllReduce (1)");
  EXPECT_TRUE(SliceFilter::All(filter.names, "x ncclkernel: allreduce (1)"));
  EXPECT_TRUE(SliceFilter::All(Parse("durable").names, "durable"));
}

TEST(SliceFilter, SaysWhatIsWrong) {
  for (const char* text : {"dur>fast", "dur~5us", "rank=", "rank=a", "name=~\"(\"", "name~\"open",
                           "name~a or name~b", "step>3"})
    EXPECT_FALSE(ParseSliceFilter(text, MatchMode::kContains).ok()) << text;
}

TEST(TextMatcher, KnowsItsModes) {
  const auto matches = [](MatchMode mode, std::string_view pattern, std::string_view text) {
    const Result<TextMatcher> matcher = TextMatcher::Make(mode, pattern);
    return matcher.ok() && (*matcher)(text);
  };
  EXPECT_TRUE(matches(MatchMode::kContains, "TEN::a", "aten::add"));
  EXPECT_FALSE(matches(MatchMode::kCase, "TEN::a", "aten::add"));
  EXPECT_TRUE(matches(MatchMode::kWhole, "ATEN::ADD", "aten::add"));
  EXPECT_FALSE(matches(MatchMode::kExact, "ATEN::ADD", "aten::add"));
  EXPECT_TRUE(matches(MatchMode::kRegex, "^step\\d+$", "step12"));
  EXPECT_FALSE(TextMatcher::Make(MatchMode::kRegex, "(a)\\1").ok());
  EXPECT_FALSE(TextMatcher::Make(MatchMode::kRegex, "a{1,9}").ok());
  EXPECT_TRUE(matches(MatchMode::kRegex, "[+*]x[]{]", "a+x{"));
  EXPECT_TRUE(matches(MatchMode::kRegex, "^a\\+b", "a+b"));
}

TEST(TextMatcher, RefusesPatternsThatGrowWithoutBound) {
  for (const char* pattern : {"a+++++++++++++++++++++++++++++++", "a+*", "(((((a+)+)+)+)+)+"})
    EXPECT_FALSE(TextMatcher::Make(MatchMode::kRegex, pattern).ok()) << pattern;
}

}  // namespace
}  // namespace steplens::server
