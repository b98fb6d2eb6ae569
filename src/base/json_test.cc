#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace steplens {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

JsonDocument ParseText(std::string_view text) {
  auto document = JsonDocument::Parse(text, "x.json");
  EXPECT_TRUE(document.ok());
  return *std::move(document);
}

TEST(JsonValue, GivesScalars) {
  const JsonDocument document =
      ParseText(R"({"int": -3, "double": 1.5, "text": "a\"b", "yes": true, "none": null})");
  const JsonValue root = document.root();
  EXPECT_EQ(root["int"].AsInt(), -3);
  EXPECT_EQ(root["int"].AsDouble(), -3.0);
  EXPECT_EQ(root["double"].AsDouble(), 1.5);
  EXPECT_EQ(root["text"].AsString(), "a\"b");
  EXPECT_EQ(root["yes"].AsBool(), true);
  EXPECT_TRUE(root["none"].exists());
}

TEST(JsonValue, ReadsNumbersWrittenAsText) {
  const JsonDocument document =
      ParseText(R"({"rank_id": "7", "ts": "1736408883704643.212", "word": "x"})");
  EXPECT_EQ(document.root()["rank_id"].AsInt(), 7);
  EXPECT_EQ(document.root()["ts"].AsDouble(), 1736408883704643.212);
  EXPECT_EQ(document.root()["word"].AsInt(), std::nullopt);
  EXPECT_EQ(document.root()["word"].AsDouble(), std::nullopt);
}

TEST(JsonValue, GivesNothingForWhatItIsNot) {
  const JsonDocument document = ParseText(R"({"list": [1], "text": "a"})");
  const JsonValue root = document.root();
  EXPECT_FALSE(root["absent"].exists());
  EXPECT_FALSE(root["absent"]["below"].exists());
  EXPECT_FALSE(root["text"]["below"].exists());
  EXPECT_EQ(root["absent"].AsString(), std::nullopt);
  EXPECT_EQ(root["absent"].AsBool(), std::nullopt);
  EXPECT_EQ(root["absent"].ToText(), "");
  EXPECT_EQ(root["list"].AsInt(), std::nullopt);
  EXPECT_EQ(root["text"].AsBool(), std::nullopt);
  EXPECT_TRUE(root["list"].IsArray());
  EXPECT_FALSE(root["list"].IsObject());
  EXPECT_TRUE(root["text"].IsString());
  EXPECT_FALSE(JsonValue().IsObject());
}

TEST(JsonValue, VisitsMembersAndElementsInOrder) {
  const JsonDocument document = ParseText(R"({"b": [1, 2], "a": "x"})");
  std::vector<std::string> keys;
  document.root().ForEachMember([&](std::string_view key, JsonValue) { keys.emplace_back(key); });
  EXPECT_THAT(keys, ElementsAre("b", "a"));
  std::vector<int64_t> items;
  document.root()["b"].ForEachElement([&](JsonValue item) { items.push_back(*item.AsInt()); });
  EXPECT_THAT(items, ElementsAre(1, 2));
  document.root()["a"].ForEachElement([](JsonValue) { FAIL(); });
  document.root()["b"].ForEachMember([](std::string_view, JsonValue) { FAIL(); });
}

TEST(JsonValue, WritesItselfAsText) {
  const JsonDocument document = ParseText(R"({"a": [1, {"b": null}], "c": "x y"})");
  EXPECT_EQ(document.root()["a"].ToText(), R"([1,{"b":null}])");
  EXPECT_EQ(document.root()["c"].ToText(), "x y");
}

TEST(JsonDocument, NamesTheFileThatIsNotJson) {
  const auto cut = JsonDocument::Parse(R"({"a": [1, )", "communication.json");
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.error().code, ErrorCode::kCorruptData);
  EXPECT_THAT(cut.error().message, HasSubstr("communication.json: not valid JSON"));
  EXPECT_FALSE(JsonDocument::Parse("", "x").ok());
  EXPECT_EQ(JsonDocument::ReadFile("/no/such/file.json").error().code, ErrorCode::kNotFound);
}

TEST(JsonDocument, RefusesNestingWithoutEnd) {
  EXPECT_FALSE(JsonDocument::Parse(std::string(100000, '['), "x").ok());
}

TEST(JsonDocument, KeepsItsValuesWhenMoved) {
  JsonDocument first = ParseText(R"({"a": "text"})");
  const JsonValue value = first.root()["a"];
  const JsonDocument second = std::move(first);
  EXPECT_EQ(second.root()["a"].AsString(), "text");
  EXPECT_EQ(value.AsString(), "text");
}

TEST(JsonDocument, OddNumbersDoNotLoseTheDocument) {
  const auto document = JsonDocument::Parse(
      R"({"a": 99999999999999999999999, "b": [NaN, -Infinity, 1e400], "c": "x\"NaN", "d": 7,
          "e": 18446744073709551615, "f": -0.5e3, "g": true, "h": null})",
      "x");
  ASSERT_TRUE(document.ok()) << document.error().message;
  const JsonValue root = document->root();
  EXPECT_EQ(root["a"].AsInt(), std::nullopt);
  EXPECT_EQ(root["a"].AsDouble(), 1e23);
  size_t unknown = 0;
  root["b"].ForEachElement([&](JsonValue value) { unknown += value.AsDouble() ? 0 : 1; });
  EXPECT_EQ(unknown, 3u);
  EXPECT_EQ(root["c"].AsString(), "x\"NaN");
  EXPECT_EQ(root["d"].AsInt(), 7);
  EXPECT_EQ(root["e"].AsInt(), std::nullopt);
  EXPECT_EQ(root["f"].AsDouble(), -500);
  EXPECT_EQ(root["g"].AsBool(), true);
}

TEST(JsonDocument, BrokenTextStaysBroken) {
  for (const char* text : {"{\"a\": NaN", "{\"a\" NaN}", "NaN NaN", "\"NaN", "{\"a\\"}) {
    EXPECT_FALSE(JsonDocument::Parse(text, "x").ok()) << text;
  }
}

}  // namespace
}  // namespace steplens
