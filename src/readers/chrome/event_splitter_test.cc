#include "readers/chrome/event_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "readers/chrome/structural_index.h"

namespace steplens::readers {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kA = R"({"ph":"X","name":"a"})";
const std::string kB = R"({"ph":"X","name":"b","args":{"k":[{"name":1},{"name":2}]}})";

struct Split {
  std::vector<std::string> events;
  std::vector<size_t> damage;
  SplitResult end;
};

Split SplitText(const std::string& text, bool at_end = true) {
  std::string padded = text;
  padded.append(kParserPadding, '\0');
  Split out;
  out.end = SplitEvents({padded.data(), text.size()}, at_end,
                        {[&](std::string_view event, size_t) { out.events.emplace_back(event); },
                         [&](size_t position) { out.damage.push_back(position); }});
  return out;
}

std::string Repeat(std::string_view text, size_t count) {
  std::string out;
  out.reserve(text.size() * count);
  for (size_t i = 0; i < count; ++i) out += text;
  return out;
}

TEST(SplitEvents, GivesTheEventsUpToTheEndOfTheArray) {
  const Split split = SplitText(kA + ", \n" + kB + R"(], "x": 1})");
  EXPECT_THAT(split.events, ElementsAre(kA, kB));
  EXPECT_THAT(split.damage, IsEmpty());
  EXPECT_TRUE(split.end.array_ended);
  EXPECT_EQ(split.end.consumed, kA.size() + 3 + kB.size() + 1);
}

TEST(SplitEvents, AnyByteTakenOutOrPutInCostsTheEventItHits) {
  const std::string text = kA + "," + kB + "," + kA + "]";
  const auto check = [&](const std::string& damaged, size_t place) {
    const Split split = SplitText(damaged);
    const bool hits_first = place <= kA.size();
    const bool hits_last = place >= text.size() - kA.size() - 2;
    const auto count = [&](const std::string& event) {
      return std::count(split.events.begin(), split.events.end(), event);
    };
    EXPECT_GE(count(kA), hits_first || hits_last ? 1 : 2) << damaged;
    const bool hits_second = place >= kA.size() && place <= kA.size() + kB.size() + 1;
    EXPECT_GE(count(kB), hits_second ? 0 : 1) << damaged;
  };
  for (size_t place = 0; place + 1 < text.size(); ++place) {
    check(text.substr(0, place) + text.substr(place + 1), place);
    for (const char c : {'{', '}', '[', ']', '"', ',', ':', 'x', '\\', '\n'}) {
      check(text.substr(0, place) + c + text.substr(place), place);
    }
  }
}

TEST(SplitEvents, ABracketBehindWhichEventsGoOnIsNotTheEnd) {
  for (const char* stray : {"]", "],", ",]", ", ] ,", "]]", R"(],"dur":1},)", R"(]"}},)"}) {
    const Split split = SplitText(kA + stray + kA + "," + kA + "]");
    EXPECT_THAT(split.events, ElementsAre(kA, kA, kA)) << stray;
    EXPECT_EQ(split.damage.size(), 1u) << stray;
    EXPECT_TRUE(split.end.array_ended) << stray;
  }
}

TEST(SplitEvents, BehindTheTrueEndIsWhatATraceHasThere) {
  for (const char* behind : {"", " \n", "}", "\n} more", R"(, "x": [{"name": 1}, {"name": 2}]})",
                             R"(, "x": {"y)", "[]", "garbage", R"(, "x" "y")"}) {
    const Split split = SplitText(kA + "]" + behind);
    EXPECT_TRUE(split.end.array_ended) << behind;
    EXPECT_EQ(split.end.consumed, kA.size() + 1) << behind;
  }
}

TEST(SplitEvents, AnUnfinishedEventWaitsForItsRestUnlessThereIsNone) {
  const std::string cut = kB.substr(0, kB.size() - 1);
  const Split waits = SplitText(kA + "," + cut, false);
  EXPECT_THAT(waits.events, ElementsAre(kA));
  EXPECT_THAT(waits.damage, IsEmpty());
  EXPECT_EQ(waits.end.consumed, kA.size() + 1);
  const Split ends = SplitText(kA + "," + cut, true);
  EXPECT_THAT(ends.damage, ElementsAre(kA.size() + 1));
  EXPECT_FALSE(ends.end.array_ended);
}

TEST(SplitEvents, WhatFollowsTheArrayIsFoundBehindADamagedLastEvent) {
  const std::string events = kA + R"(,{"ph":"X" "args":{}})";
  for (const char* tail : {"}", R"(, "baseTimeNanoseconds": 7})"}) {
    const Split split = SplitText(events + "\n]" + tail);
    EXPECT_TRUE(split.end.array_ended) << tail;
    EXPECT_EQ(split.end.consumed, events.size() + 2) << tail;
  }
}

// However the text is damaged, it is read a few times at most.
TEST(SplitEvents, TheWorkGrowsWithTheTextAlone) {
  constexpr size_t kCount = 20000;
  const std::string open = kA.substr(0, kA.size() - 1);
  for (const std::string& text :
       {Repeat(open + ",", kCount), Repeat(R"({"ph":"X","args":[{},)", kCount),
        Repeat(R"({"ph":"X","args":)", kCount), Repeat("{", kCount), Repeat("]", kCount),
        Repeat(kA + R"(],"a":[)", kCount) + "]},", Repeat(R"({"ph":"X","a":")", kCount),
        Repeat(R"({"ph":"X","args":[{},)", kCount) + Repeat("]}", kCount)}) {
    const Split split = SplitText(text);
    EXPECT_LE(split.end.scanned_bytes, 3 * text.size() + (1 << 17)) << text.substr(0, 40);
  }
}

TEST(SplitEvents, EventsThatAllLackTheirBraceAreEachCounted) {
  const std::string open = kA.substr(0, kA.size() - 1);
  const Split split = SplitText(Repeat(open + ",", 100) + kA + "]");
  EXPECT_EQ(split.damage.size(), 100u);
  EXPECT_THAT(split.events, ElementsAre(kA));
}

TEST(FindMemberEnd, IsTheCommaOrTheBraceOfTheObject) {
  EXPECT_EQ(FindMemberEnd(R"("a": [1, 2], "b")"), 11u);
  EXPECT_EQ(FindMemberEnd(R"("a": ","}, 1)"), 8u);
  EXPECT_EQ(FindMemberEnd(R"("a": {"b": 1, )"), std::nullopt);
}

}  // namespace
}  // namespace steplens::readers
