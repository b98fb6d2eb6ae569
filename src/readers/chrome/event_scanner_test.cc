#include "readers/chrome/event_scanner.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "readers/chrome/value_scan.h"

namespace steplens::readers {
namespace {

using Outcome = ObjectScan::Outcome;

ObjectScan ScanText(std::string text, bool is_inside = false) {
  const size_t size = text.size();
  text.append(kScanAhead, '"');  // must not be seen
  EventScanner scanner;
  const std::string_view view(text.data(), size);
  return is_inside ? scanner.ScanMembers(view) : scanner.Scan(view);
}

TEST(EventScanner, AWholeObjectEndsAtItsBrace) {
  for (const std::string& object : std::vector<std::string>{
           R"({})", R"({"a":1})", R"({ "a" : [ ] , "b" : {"c": [1, {"d": "}]"}, "\"\\"]} })",
           R"({"a":-1.5e3,"b":NaN,"c":true})"}) {
    const ObjectScan scan = ScanText(object + ",{");
    EXPECT_EQ(scan.outcome, Outcome::kWhole) << object;
    EXPECT_EQ(scan.size, object.size());
  }
}

TEST(EventScanner, DamageIsFoundWhereItIs) {
  struct Case {
    std::string before;
    std::string from;
  };
  for (const auto& [before, from] :
       std::vector<Case>{{R"({"a":{"b":1},)", R"({"ph":"X"})"},  // a brace is missing
                         {R"({"a":[1,2)", R"(}})"},              // a bracket is missing
                         {R"({"a":1)", R"(]})"},                 // a bracket too many
                         {R"({"a":)", R"(,"b":1})"},             // a value is missing
                         {R"({"a")", R"(1})"},                   // a colon is missing
                         {R"({"a":"b, ")", R"(c":1})"},          // a quote is missing
                         {R"({"a":1,)", R"(})"},                 // a comma too many
                         {R"({"a":1 )", R"("b":2})"},            // a comma is missing
                         {"{\"a\":\"b", "\n\"}"},                // a line ends inside a string
                         {R"({"a":)", R"(\"})"},                 // an escape outside strings
                         {R"({)", R"({}})"}}) {
    const ObjectScan scan = ScanText(before + from);
    EXPECT_EQ(scan.outcome, Outcome::kBroken) << before << from;
    EXPECT_EQ(scan.size, before.size()) << before << from;
  }
}

TEST(EventScanner, AnObjectCutAnywhereIsUnfinished) {
  const std::string object = R"({"a": [1, {"b": "\"x"}], "c": null})";
  for (size_t size = 1; size < object.size(); ++size) {
    EXPECT_EQ(ScanText(object.substr(0, size)).outcome, Outcome::kUnfinished) << size;
  }
}

TEST(EventScanner, OnlyATextThatIsAMemberOfTheEventIsAPhase) {
  EXPECT_TRUE(ScanText(R"({"a":1,"ph":"X"})").has_phase);
  EXPECT_TRUE(ScanText(R"({"ph":"X","args":{)").has_phase);
  EXPECT_FALSE(ScanText(R"({"ph":1})").has_phase);
  EXPECT_FALSE(ScanText(R"({"args":{"ph":"X"}})").has_phase);
  EXPECT_FALSE(ScanText(R"({"ph":["X"],"a":"b"})").has_phase);
}

TEST(EventScanner, MembersEndAtTheBraceOfTheirObject) {
  const ObjectScan scan = ScanText(R"( "a": {}, "b": "}" }x)", true);
  EXPECT_EQ(scan.outcome, Outcome::kWhole);
  EXPECT_EQ(scan.size, 20u);
  EXPECT_EQ(ScanText("]", true).outcome, Outcome::kBroken);
  EXPECT_EQ(ScanText("}", true).outcome, Outcome::kBroken);
}

}  // namespace
}  // namespace steplens::readers
