#include "collect/json_text.h"

#include <gtest/gtest.h>

namespace steplens::collect {
namespace {

TEST(IsJson, AcceptsValues) {
  for (const char* text : {"{}", "[]", "null", "true", " -1.5e+3 ", "\"a\\u00e9\\n\"",
                           "{\"a\": [1, {\"b\": null}], \"c\": \"\"}", "0", "[0,-0.0]"}) {
    EXPECT_TRUE(IsJson(text)) << text;
  }
}

TEST(IsJson, RefusesEverythingElse) {
  for (const char* text :
       {"",        " ",           "{",      "}",   "[1,]", "{\"a\"}",    "{\"a\":}",
        "{a:1}",   "01",          "1.",     ".5",  "+1",   "nul",        "\"",
        "\"\\x\"", "\"\\u12g4\"", "\"\n\"", "1 2", "[1}",  "{\"a\":1,}", "'a'"}) {
    EXPECT_FALSE(IsJson(text)) << text;
  }
}

TEST(IsJson, RefusesWhatIsTooDeepInsteadOfOverflowingTheStack) {
  EXPECT_TRUE(IsJson(std::string(50, '[') + std::string(50, ']')));
  EXPECT_FALSE(IsJson(std::string(1'000'000, '[')));
}

TEST(JsonMembers, GivesKeysUnescapedAndValuesAsTheyStand) {
  const auto members = JsonMembers(R"( {"a\u0062\n": [1, 2] , "c":{"d":"}"}} )");
  ASSERT_TRUE(members);
  ASSERT_EQ(members->size(), 2u);
  EXPECT_EQ((*members)[0].first, "ab\n");
  EXPECT_EQ((*members)[0].second, "[1, 2]");
  EXPECT_EQ((*members)[1].second, R"({"d":"}"})");
  EXPECT_FALSE(JsonMembers("[1]"));
  EXPECT_FALSE(JsonMembers("{\"a\":}"));
  EXPECT_TRUE(JsonMembers("{ }")->empty());
}

TEST(JsonElements, GivesValues) {
  EXPECT_EQ(*JsonElements("[1, \"a,b\", []]"), (std::vector<std::string>{"1", "\"a,b\"", "[]"}));
  EXPECT_FALSE(JsonElements("{}"));
}

TEST(JsonString, DecodesEscapesAndPairs) {
  EXPECT_EQ(JsonString(R"("a\"\\\/\b\f\n\r\t")"), "a\"\\/\b\f\n\r\t");
  EXPECT_EQ(JsonString(R"("\u00e9\u20ac\ud83d\ude00")"), "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  EXPECT_EQ(JsonString(R"("\ud83d")"), "\xEF\xBF\xBD");
  EXPECT_EQ(JsonString(R"("\ud83dx")"), "\xEF\xBF\xBDx");
  EXPECT_FALSE(JsonString("1"));
}

TEST(IndentJson, LaysOutWithFourBlanksALevel) {
  EXPECT_EQ(IndentJson(R"({"a":[1,{}],"b":"{,:}"})", 1),
            "{\n        \"a\": [\n            1,\n            {}\n        ],\n        \"b\": "
            "\"{,:}\"\n    }");
  EXPECT_EQ(IndentJson(" [ ] ", 0), "[]");
  EXPECT_EQ(IndentJson(R"(["\"","\\"])", 0), "[\n    \"\\\"\",\n    \"\\\\\"\n]");
}

TEST(QuoteJson, EscapesAndReplacesWhatIsNotUtf8) {
  EXPECT_EQ(QuoteJson("a\"\\\n\xC3\xA9"), "\"a\\\"\\\\\\u000a\xC3\xA9\"");
  EXPECT_EQ(QuoteJson("\xFFx"), "\"\xEF\xBF\xBDx\"");
  EXPECT_TRUE(IsJson(QuoteJson(std::string("\0\x1F\x80\"", 4))));
}

}  // namespace
}  // namespace steplens::collect
