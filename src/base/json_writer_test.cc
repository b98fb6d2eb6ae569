#include "base/json_writer.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "base/json.h"

namespace steplens {
namespace {

std::string Escaped(std::string_view text) {
  std::string out;
  AppendJsonString(out, text);
  return out;
}

TEST(AppendJsonString, EscapesWhatJsonRequires) {
  EXPECT_EQ(Escaped("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(Escaped("\n\r\t"), R"("\n\r\t")");
  EXPECT_EQ(Escaped(std::string_view("\0\x1f", 2)), R"("\u0000\u001f")");
  EXPECT_EQ(Escaped("\xE4\xBD\xA0"), "\"\xE4\xBD\xA0\"");
}

TEST(AppendJsonString, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(Escaped("a\xFFz"), "\"a\xEF\xBF\xBDz\"");
  EXPECT_EQ(Escaped("\xE4\xBD"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST(AppendJsonString, AnyBytesBecomeValidJson) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 12, '\0');
    for (char& c : text) c = static_cast<char>(random());
    const auto document = JsonDocument::Parse(Escaped(text), "x");
    ASSERT_TRUE(document.ok()) << testing::PrintToString(text);
  }
}

TEST(JsonWriter, SeparatesMembersAndItems) {
  JsonWriter json;
  json.BeginObject();
  json.Key("list").BeginArray().Int(1).Int(-2).BeginObject().EndObject().EndArray();
  json.Key("text").String("a b");
  json.Key("flags").BeginArray().Bool(true).Bool(false).Null().EndArray();
  json.Key("raw").Raw("[3]");
  json.EndObject();
  EXPECT_EQ(json.text(),
            R"({"list": [1, -2, {}], "text": "a b", "flags": [true, false, null], "raw": [3]})");
}

TEST(JsonWriter, WritesDoublesThatReadBack) {
  JsonWriter json;
  json.BeginArray().Double(0.1).Double(1e300).Double(-0.5).EndArray();
  const auto document = JsonDocument::Parse(json.text(), "x");
  ASSERT_TRUE(document.ok());
  std::vector<double> values;
  document->root().ForEachElement([&](JsonValue value) { values.push_back(*value.AsDouble()); });
  EXPECT_EQ(values, (std::vector<double>{0.1, 1e300, -0.5}));
}

TEST(JsonWriter, WritesNullForWhatJsonCannotSay) {
  JsonWriter json;
  json.BeginArray();
  json.Double(std::numeric_limits<double>::quiet_NaN())
      .Double(std::numeric_limits<double>::infinity());
  json.EndArray();
  EXPECT_EQ(json.Take(), "[null, null]");
}

TEST(JsonWriter, KeepsExtremeIntegers) {
  JsonWriter json;
  json.BeginArray()
      .Int(std::numeric_limits<int64_t>::min())
      .Int(std::numeric_limits<int64_t>::max())
      .EndArray();
  EXPECT_EQ(json.text(), "[-9223372036854775808, 9223372036854775807]");
}

}  // namespace
}  // namespace steplens
