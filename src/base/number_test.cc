#include "base/number.h"

#include <gtest/gtest.h>

#include <charconv>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace steplens {
namespace {

TEST(ParseUsToNs, KeepsEveryNanosecondOfAnEpochTime) {
  EXPECT_EQ(ParseUsToNs("1736412474714493.390"), 1736412474714493390);
  EXPECT_EQ(ParseUsToNs("1736412474714493.39"), 1736412474714493390);
  EXPECT_EQ(ParseUsToNs("1736412474714493"), 1736412474714493000);
  EXPECT_EQ(ParseUsToNs("1736408883704643.212\t"), 1736408883704643212);
}

TEST(ParseUsToNs, ReadsEveryDigitOfAnEpochTimeAndRefusesOthers) {
  const std::string good = "1736412474714493.390";
  for (size_t i = 0; i < good.size(); ++i) {
    if (good[i] == '.') continue;
    for (const char c : std::string("0123456789")) {
      std::string text = good;
      text[i] = c;
      std::string digits = text;
      digits.erase(16, 1);
      if (digits > "9223372036854775807") continue;
      EXPECT_EQ(ParseUsToNs(text), std::stoll(digits)) << text;
    }
    for (const char c : std::string("/:x. -")) {
      std::string text = good;
      text[i] = c;
      if (c == '-' && i == 0) continue;
      if (c == ' ' && (i == 0 || i == good.size() - 1)) continue;
      EXPECT_EQ(ParseUsToNs(text), std::nullopt) << text;
    }
  }
}

TEST(ParseUsToNs, ReadsEveryDigitOfWholeMicrosecondsAndRefusesOthers) {
  const std::string good = "1623142623460111";
  for (size_t i = 0; i < good.size(); ++i) {
    for (const char c : std::string("0123456789")) {
      std::string text = good;
      text[i] = c;
      if (text > "9223372036854775") continue;
      EXPECT_EQ(ParseUsToNs(text), std::stoll(text) * 1000) << text;
    }
    for (const char c : std::string("/:x -")) {
      std::string text = good;
      text[i] = c;
      if ((c == '-' || c == ' ') && (i == 0 || i == good.size() - 1)) continue;
      EXPECT_EQ(ParseUsToNs(text), std::nullopt) << text;
    }
  }
  EXPECT_EQ(ParseUsToNs("16231426234601.5"), 16231426234601500);
  EXPECT_EQ(ParseUsToNs("9999999999999999"), std::nullopt);
}

TEST(ParseUsToNs, RoundsTheFourthDecimal) {
  EXPECT_EQ(ParseUsToNs("12.77012757357446"), 12770);
  EXPECT_EQ(ParseUsToNs("12.7705"), 12771);
  EXPECT_EQ(ParseUsToNs("0.0004"), 0);
  EXPECT_EQ(ParseUsToNs("0.9999"), 1000);
}

TEST(ParseUsToNs, AcceptsSignsAndExponents) {
  EXPECT_EQ(ParseUsToNs("-1.5"), -1500);
  EXPECT_EQ(ParseUsToNs("1.5e3"), 1500000);
  EXPECT_EQ(ParseUsToNs("15E-1"), 1500);
  EXPECT_EQ(ParseUsToNs(" 7 "), 7000);
}

TEST(ParseUsToNs, RefusesWhatIsNotAFiniteNumber) {
  for (const char* text : {"", " ", "NaN", "Infinity", "abc", "1.2.3", "1,5", "--1", ".", "1e",
                           "1e9999", "99999999999999999999", "0x10", "1 2"}) {
    EXPECT_EQ(ParseUsToNs(text), std::nullopt) << text;
  }
}

TEST(ParseUsToNs, KeepsTheLargestTimeThatFits) {
  EXPECT_EQ(ParseUsToNs("9223372036854775.807"), 9223372036854775807);
  EXPECT_EQ(ParseUsToNs("9223372036854775.808"), std::nullopt);
}

// Texts up to nine bytes, of digits and of whatever may stand beside them by mistake.
std::vector<std::string> ShortTexts() {
  constexpr std::string_view kBytes = "0123456789..-/: e";
  std::mt19937 random(7);
  std::vector<std::string> texts;
  for (int i = 0; i < 100000; ++i) {
    std::string text;
    for (size_t size = 1 + random() % 9; text.size() < size;) {
      text += kBytes[random() % (i % 2 == 0 ? 11 : kBytes.size())];
    }
    texts.push_back(text);
  }
  return texts;
}

TEST(ParseUsToNs, GivesOfShortTextsWhatTheGeneralRuleGives) {
  for (const std::string& text : ShortTexts()) {
    ASSERT_EQ(ParseUsToNs(text), ParseScaled(text, 3)) << text;
  }
}

TEST(ParseDouble, GivesOfShortTextsWhatTheLibraryGives) {
  for (const std::string& text : ShortTexts()) {
    if (text.find_first_not_of("0123456789.") != std::string::npos) continue;
    char* end = nullptr;
    const double expected = std::strtod(text.c_str(), &end);
    const bool is_whole = end == text.c_str() + text.size();
    ASSERT_EQ(ParseDouble(text), is_whole ? std::optional(expected) : std::nullopt) << text;
  }
}

TEST(ParseInt64, GivesOfShortTextsWhatTheLibraryGives) {
  for (const std::string& text : ShortTexts()) {
    if (text.find(' ') != std::string::npos) continue;
    int64_t expected = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), expected);
    const bool is_whole = error == std::errc() && end == text.data() + text.size();
    ASSERT_EQ(ParseInt64(text), is_whole ? std::optional(expected) : std::nullopt) << text;
  }
}

TEST(ParseDouble, IsCorrectlyRounded) {
  EXPECT_EQ(ParseDouble("0.1"), 0.1);
  EXPECT_EQ(ParseDouble("8873.756000000001"), 8873.756000000001);
  EXPECT_EQ(ParseDouble("105.99187771875"), 105.99187771875);
  EXPECT_EQ(ParseDouble("-2e-05"), -2e-05);
  EXPECT_EQ(ParseDouble("123456789012345678901234567890"), 123456789012345678901234567890.0);
  EXPECT_EQ(ParseDouble("N/A"), std::nullopt);
  EXPECT_EQ(ParseDouble("1e999"), std::nullopt);
}

TEST(ParseInt64, TakesTheWholeText) {
  EXPECT_EQ(ParseInt64("4294967295"), 4294967295);
  EXPECT_EQ(ParseInt64("-1\t"), -1);
  EXPECT_EQ(ParseInt64("12a"), std::nullopt);
  EXPECT_EQ(ParseInt64("55426082093320372223"), std::nullopt);
}

TEST(FormatNsAsUs, IsTheInverseOfParsing) {
  for (const int64_t ns : {int64_t{0}, int64_t{7}, int64_t{-1500}, int64_t{1736408883704643212}}) {
    EXPECT_EQ(ParseUsToNs(FormatNsAsUs(ns)), ns);
  }
  EXPECT_EQ(FormatNsAsUs(1500), "1.500");
}

}  // namespace
}  // namespace steplens
