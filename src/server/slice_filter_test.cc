#include "server/slice_filter.h"

#include <gtest/gtest.h>

namespace steplens::server {
namespace {

// A slice for tests.
struct Slice {
  std::string name = "aten::matmul";
  std::string category = "cpu_op";
  std::string lane = "rank 0 / Ascend Hardware / Stream 2";
  int64_t dur_ns = 60'000;
  int64_t self_ns = 10'000;
  int64_t rank = 5;
  int64_t step = 12;
  std::string arg{};
};

bool Holds(const SliceFilter::Term& term, const Slice& slice) {
  switch (term.field) {
    case SliceFilter::Field::kName:
      return term.Holds(slice.name);
    case SliceFilter::Field::kCategory:
      return term.Holds(slice.category);
    case SliceFilter::Field::kLane:
      return term.Holds(slice.lane);
    case SliceFilter::Field::kDur:
      return term.Holds(slice.dur_ns);
    case SliceFilter::Field::kSelf:
      return term.Holds(slice.self_ns);
    case SliceFilter::Field::kRank:
      return term.Holds(slice.rank);
    case SliceFilter::Field::kStep:
      return term.Holds(slice.step);
    case SliceFilter::Field::kArg:
      return term.HoldsArg(slice.arg);
  }
  return false;
}

bool Matches(std::string_view text, const Slice& slice = {},
             MatchMode mode = MatchMode::kContains) {
  const Result<SliceFilter> filter = SliceFilter::Parse(text, mode);
  EXPECT_TRUE(filter.ok()) << text << ": " << (filter.ok() ? "" : filter.error().message);
  return filter.ok() && filter->Evaluate([&](uint32_t term) {
    return Holds(filter->terms()[term], slice) ? SliceFilter::Truth::kYes : SliceFilter::Truth::kNo;
  }) == SliceFilter::Truth::kYes;
}

TEST(SliceFilter, ReadsEveryKindOfTerm) {
  for (const char* text :
       {"name~\"TEN::mat\"",
        "name!~conv",
        "name=aten::matmul",
        "name!=x",
        "name=~\"^aten\"",
        "name:matmul",
        "name in x,\"aten::matmul\"",
        "cat=cpu_op",
        "lane:hardware",
        "dur>50us",
        "dur>=60us",
        "dur<0.1ms",
        "dur!=1ns",
        "dur=60",
        "self<=10us",
        "rank=0,3-7",
        "rank!=1,2",
        "rank in 4, 5",
        "rank>4",
        "step=12",
        "step:10-13",
        "step<=12",
        "name~mat dur>50us dur<=1.5ms rank=0,3-7 lane:hardware step=12 cat!=kernel"})
    EXPECT_TRUE(Matches(text)) << text;
  for (const char* text : {"name~conv", "name!=aten::matmul", "name in a,b", "dur>60us", "dur<60us",
                           "self>10us", "rank=0,3", "rank!=0-9", "step>12", "lane=hardware"})
    EXPECT_FALSE(Matches(text)) << text;
}

TEST(SliceFilter, JoinsTermsAndBeforeOr) {
  EXPECT_TRUE(Matches("name~conv or name~mat"));
  EXPECT_TRUE(Matches("name~mat dur>1us or name~conv dur>1s"));
  EXPECT_FALSE(Matches("(name~mat or name~conv) and dur>1s"));
  EXPECT_TRUE(Matches("name~mat or name~conv and dur>1s"));
  EXPECT_TRUE(Matches("not name~conv not (dur<10us or step in 1,2)"));
  EXPECT_FALSE(Matches("not(name~mat)"));
  EXPECT_TRUE(Matches("not (not (name~mat))"));
  EXPECT_TRUE(Matches("((name~mat))"));
}

TEST(SliceFilter, KnowsWhatPartOfTheTermsDecides) {
  const Result<SliceFilter> filter =
      SliceFilter::Parse("name~mat and (dur>1us or cat=x) or rank=9", MatchMode::kContains);
  ASSERT_TRUE(filter.ok());
  using Truth = SliceFilter::Truth;
  const auto with = [&](Truth name, Truth rank) {
    return filter->Evaluate([&](uint32_t term) {
      const SliceFilter::Field field = filter->terms()[term].field;
      if (field == SliceFilter::Field::kName) return name;
      return field == SliceFilter::Field::kRank ? rank : Truth::kUnknown;
    });
  };
  EXPECT_EQ(with(Truth::kNo, Truth::kNo), Truth::kNo);
  EXPECT_EQ(with(Truth::kYes, Truth::kNo), Truth::kUnknown);
  EXPECT_EQ(with(Truth::kUnknown, Truth::kYes), Truth::kYes);
}

TEST(SliceFilter, ComparesArgumentsAsTextsAndNumbers) {
  EXPECT_TRUE(Matches("arg.\"task type\"=\"AI_CORE\"", {.arg = "AI_CORE"}));
  EXPECT_TRUE(Matches("arg.type~core", {.arg = "AI_CORE"}));
  EXPECT_TRUE(Matches("arg.n=12", {.arg = "12.0"}));
  EXPECT_FALSE(Matches("arg.n!=12", {.arg = "12.0"}));
  EXPECT_TRUE(Matches("arg.size>=4MB", {.arg = "4194304"}));
  EXPECT_FALSE(Matches("arg.size>4MB", {.arg = "4194304"}));
  EXPECT_FALSE(Matches("arg.size>4MB", {.arg = "large"}));
  EXPECT_TRUE(Matches("arg.ratio<0.5", {.arg = "0.25"}));
  EXPECT_TRUE(Matches("arg.id in 7,\"eight\"", {.arg = "eight"}));
}

TEST(SliceFilter, TakesTextWithoutTermsAsAName) {
  EXPECT_TRUE(Matches("ncclKernel: AllReduce (1)", {.name = "x ncclkernel: allreduce (1)"}));
  EXPECT_TRUE(Matches("durable", {.name = "durable"}));
  EXPECT_TRUE(Matches("(anonymous namespace)::f", {.name = "(anonymous namespace)::f()"}));
  EXPECT_TRUE(Matches("not_equal", {.name = "aten::not_equal"}));
  EXPECT_TRUE(Matches("index", {.name = "aten::index"}));
  EXPECT_TRUE(Matches("name~f(x) or name~g", {.name = "f(x)"}));
  EXPECT_TRUE(Matches(""));
  EXPECT_TRUE(Matches("name~\"\"")) << "every text contains the empty one";
}

TEST(SliceFilter, SaysWhatIsWrong) {
  for (const char* text : {"dur>fast", "dur~5us", "rank=", "rank=a", "name=~\"(\"", "name~\"open",
                           "name~a or", "name~a and or name~b", "(name~a", "name~a)", "name~a foo",
                           "step~3", "arg.n>x", "name in a,", "not (name~a"})
    EXPECT_FALSE(SliceFilter::Parse(text, MatchMode::kContains).ok()) << text;
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += "(";
  EXPECT_FALSE(SliceFilter::Parse(deep + "name~a", MatchMode::kContains).ok());
  std::string nots;
  for (int i = 0; i < 5000; ++i) nots += "not ";
  EXPECT_FALSE(SliceFilter::Parse(nots + "name~a", MatchMode::kContains).ok());
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
