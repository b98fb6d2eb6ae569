#include "readers/chrome/value_scan.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace steplens::readers {
namespace {

// Length of the value at the front of `text`, at every place of a window; -1 if there is none.
template <typename Scan>
int Length(Scan scan, std::string_view text) {
  int length = -2;
  for (size_t before = 0; before < 2 * kScanAhead; ++before) {
    const std::string padded =
        std::string(before, '7') + std::string(text) + std::string(kScanAhead, '"');
    const char* const begin = padded.data() + before;
    const char* const end = scan(begin, begin + text.size());
    const int found = end == nullptr ? -1 : static_cast<int>(end - begin);
    EXPECT_TRUE(length == -2 || length == found) << text << " at " << before;
    length = found;
  }
  return length;
}

TEST(SameText, LooksAtEveryByteAndAtNoneBehind) {
  for (size_t size = 0; size < 2 * kScanAhead + 2; ++size) {
    std::string a(size, 'x');
    std::string b = a;
    a.append(kScanAhead, '1');
    b.append(kScanAhead, '2');
    const auto same = [&] { return SameText({a.data(), size}, {b.data(), size}); };
    EXPECT_TRUE(same()) << size;
    for (size_t i = 0; i < size; ++i) {
      b[i] = 'y';
      EXPECT_FALSE(same()) << size << " at " << i;
      b[i] = 'x';
    }
    EXPECT_FALSE(SameText({a.data(), size}, {b.data(), size + 1}));
  }
}

TEST(ScanString, EndsBehindTheQuoteThatIsNotEscaped) {
  EXPECT_EQ(Length(ScanString, R"("", )"), 2);
  EXPECT_EQ(Length(ScanString, R"("abc", )"), 5);
  EXPECT_EQ(Length(ScanString, R"("a\"b\\", )"), 8);
  EXPECT_EQ(Length(ScanString, R"("0123456789abcdef0123456789abcdef\n\r\n.", )"), 41);
  EXPECT_EQ(Length(ScanString, "\"\xE4\xB8\xAD\x7F\", "), 6);
}

TEST(ScanString, RefusesWhatIsNotClosedOrHasControlCharacters) {
  EXPECT_EQ(Length(ScanString, "\"abc"), -1);
  EXPECT_EQ(Length(ScanString, "\"abc\\"), -1);
  EXPECT_EQ(Length(ScanString, "\"a\nb\","), -1);
  EXPECT_EQ(Length(ScanString, "\"a\\\nb\","), -1);
  EXPECT_EQ(Length(ScanString, "abc\","), -1);
  EXPECT_EQ(Length(ScanString, ""), -1);
}

TEST(ScanNumber, EndsBehindTheLastDigit) {
  EXPECT_EQ(Length(ScanNumber, "7,"), 1);
  EXPECT_EQ(Length(ScanNumber, "-12.5}"), 5);
  EXPECT_EQ(Length(ScanNumber, "1234567890123456.78901234567890123 "), 34);
  EXPECT_EQ(Length(ScanNumber, "1e5,"), 1) << "what follows is no comma, so no event of this shape";
  EXPECT_EQ(Length(ScanNumber, "x"), -1);
  EXPECT_EQ(Length(ScanNumber, "12"), -1) << "may go on behind the end";
}

TEST(ScanWord, TakesSmallLetters) {
  EXPECT_EQ(Length(ScanWord, "true,"), 4);
  EXPECT_EQ(Length(ScanWord, "NaN,"), -1);
  EXPECT_EQ(Length(ScanWord, "null"), -1);
}

TEST(ScanNested, CountsBracketsOutsideStrings) {
  EXPECT_EQ(Length(ScanNested, "[],"), 2);
  EXPECT_EQ(Length(ScanNested, R"([[1, 2], {"a]}": "\"]"}], )"), 24);
  EXPECT_EQ(Length(ScanNested, "[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]],"), 40);
  EXPECT_EQ(Length(ScanNested, "[[1]"), -1);
  EXPECT_EQ(Length(ScanNested, R"([\"])"), -1);
  EXPECT_EQ(Length(ScanNested, "[\"a\nb\"]"), -1);
  EXPECT_EQ(Length(ScanNested, "1"), -1);
}

}  // namespace
}  // namespace steplens::readers
