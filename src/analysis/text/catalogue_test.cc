#include "analysis/text/catalogue.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

namespace steplens::analysis {
namespace {

// Names in placeholders, those inside of plural branches as well: "{n, plural, one {# of {all}}}".
std::set<std::string> Placeholders(const std::string& pattern) {
  static const std::regex placeholder(R"(\{(\w+)(\}|, plural,))");
  std::set<std::string> names;
  for (std::sregex_iterator at(pattern.begin(), pattern.end(), placeholder), end; at != end; ++at)
    names.insert((*at)[1]);
  return names;
}

TEST(Catalogue, HasEveryKeyInBothLanguagesWithTheSamePlaceholders) {
  const Catalogue& english = CatalogueOf(Language::kEnglish);
  const Catalogue& chinese = CatalogueOf(Language::kChinese);
  EXPECT_GT(english.size(), 150u);
  for (const auto& [key, pattern] : english) {
    const auto other = chinese.find(key);
    ASSERT_NE(other, chinese.end()) << key << " is missing in Chinese";
    EXPECT_EQ(Placeholders(pattern), Placeholders(other->second)) << key;
    EXPECT_FALSE(pattern.empty()) << key;
    EXPECT_FALSE(other->second.empty()) << key;
  }
  for (const auto& [key, pattern] : chinese) EXPECT_TRUE(english.contains(key)) << key;
}

TEST(Render, FillsPlaceholdersInBothLanguages) {
  const Message message{"finding.link.pair", {{"src", "3"}, {"dst", "4"}}};
  EXPECT_EQ(English(message), "link 3-4");
  EXPECT_EQ(Chinese(message), "链路 3-4");
}

TEST(Render, ChoosesThePluralAndFillsItsBranch) {
  const auto found = [](const char* count) {
    return English({"finding.found", {{"count", count}, {"name", "{name} #2"}}});
  };
  EXPECT_EQ(found("1"), "found once: {name} #2") << "what an argument holds is not looked at again";
  EXPECT_EQ(found("3"), "found 3 times, first: {name} #2");
}

TEST(Render, WordsAMessageInsideOfAMessage) {
  const Message speed{"finding.link.speed",
                      {{"transport", "RDMA"}, {"gbps", "3.9"}, {"usual", "11.8"}}};
  const Message links{"finding.link.outgoing", {{"links", "63"}, {"speed", speed}}};
  EXPECT_EQ(English(links), "63 outgoing links are slow: RDMA at 3.9 GB/s (typical 11.8)");
  EXPECT_EQ(Chinese(links), "作为发送端有 63 条链路慢：RDMA 带宽 3.9 GB/s，通常为 11.8 GB/s");
}

TEST(Render, ShowsWhatIsMissing) {
  EXPECT_EQ(English({"no.such.key"}), "no.such.key");
  EXPECT_EQ(English({"finding.link.pair", {{"src", "3"}}}), "link 3-{dst}");
}

}  // namespace
}  // namespace steplens::analysis
