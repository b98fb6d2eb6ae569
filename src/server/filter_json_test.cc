#include "server/filter_json.h"

#include <gtest/gtest.h>

#include "server/slice_filter.h"

namespace steplens::server {
namespace {

// The text of a filter, or the message of why it is none.
std::string Text(std::string_view json) {
  const Result<JsonDocument> document = JsonDocument::Parse(json, "test");
  EXPECT_TRUE(document.ok()) << json;
  const Result<std::string> text = FilterText(document->root());
  return text.ok() ? *text : text.error().message;
}

TEST(FilterText, TermsHaveQuotedTextsAndNanoseconds) {
  EXPECT_EQ(Text(R"({"field":"name","op":"~","value":"mat \"mul\""})"), R"(name ~ "mat \"mul\"")");
  EXPECT_EQ(Text(R"({"field":"dur","op":">=","value":50000})"), "dur >= 50000ns");
  EXPECT_EQ(Text(R"({"field":"dur","op":"<","value":"1.5ms"})"), R"(dur < "1.5ms")");
  EXPECT_EQ(Text(R"({"field":"rank","op":"in","value":[0,3]})"), "rank in 0,3");
  EXPECT_EQ(Text(R"({"arg":"task type","op":"=","value":"AI_CORE"})"),
            R"(arg."task type" = "AI_CORE")");
}

TEST(FilterText, JoinsAndNegates) {
  EXPECT_EQ(Text(R"({"or":[{"field":"cat","op":"=","value":"kernel"},
                          {"not":{"field":"step","op":"=","value":2}}]})"),
            R"((cat = "kernel" or not (step = 2)))");
}

TEST(FilterText, EveryTextIsUnderstood) {
  for (const char* json :
       {R"({"field":"name","op":"~","value":"a\\b\"c) or dur>1"})",
        R"({"and":[{"field":"self","op":"<","value":7},{"field":"lane","op":"!~","value":"x"}]})",
        R"({"arg":"size","op":">","value":1.5})",
        R"({"field":"name","op":"in","value":["a","b c"]})"}) {
    const Result<SliceFilter> filter = SliceFilter::Parse(Text(json), MatchMode::kContains);
    EXPECT_TRUE(filter.ok()) << json << ": " << (filter.ok() ? "" : filter.error().message);
  }
}

TEST(FilterText, SaysWhatIsNotUnderstood) {
  EXPECT_NE(Text(R"({"field":"colour","op":"=","value":1})").find("'field'"), std::string::npos);
  EXPECT_NE(Text(R"({"field":"name","op":"like","value":"a"})").find("'op'"), std::string::npos);
  EXPECT_NE(Text(R"({"field":"name","op":"="})").find("no 'value'"), std::string::npos);
  EXPECT_NE(Text(R"({"and":[]})").find("empty"), std::string::npos);
  EXPECT_NE(Text(R"({"and":{}})").find("not a list"), std::string::npos);
  EXPECT_NE(Text(R"([1])").find("not an object"), std::string::npos);
  EXPECT_NE(Text(R"({"field":"rank","op":"in","value":[]})").find("empty"), std::string::npos);
  EXPECT_NE(Text(R"({"arg":"a\"b","op":"=","value":1})").find("quote"), std::string::npos);
  std::string deep = R"({"field":"rank","op":"=","value":1})";
  for (int i = 0; i < 100; ++i) deep = R"({"not":)" + deep + "}";
  EXPECT_NE(Text(deep).find("too deeply"), std::string::npos);
}

}  // namespace
}  // namespace steplens::server
