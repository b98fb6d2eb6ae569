#include "export/text/text_buffer.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>

#include "export/text/row_finder.h"

namespace steplens::exporting {
namespace {

template <typename Write>
std::string Text(Write&& write) {
  TextBuffer out;
  write(out);
  return std::string(out.view());
}
std::string Int(int64_t value) {
  return Text([&](TextBuffer& out) { out.Int(value); });
}
std::string Us(int64_t ns) {
  return Text([&](TextBuffer& out) { out.Us(ns); });
}
std::string Mb(int64_t bytes) {
  return Text([&](TextBuffer& out) { out.BinaryFraction(bytes, 20); });
}
std::string AsDouble(int64_t value, unsigned shift) {
  char text[kMaxNumberBytes];
  const double number = static_cast<double>(value) / static_cast<double>(uint64_t{1} << shift);
  return {text, PutNumber(text, number)};
}

TEST(TextBuffer, WritesIntegersOfEveryLength) {
  uint64_t power = 1;
  for (int digits = 1; digits <= 18; ++digits, power *= 10) {
    for (const uint64_t value : {power - 1, power, power + 1, 5 * power}) {
      EXPECT_EQ(Int(static_cast<int64_t>(value)), std::to_string(value));
      EXPECT_EQ(Int(-static_cast<int64_t>(value)), std::to_string(-static_cast<int64_t>(value)));
    }
  }
  for (const int64_t value :
       {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()})
    EXPECT_EQ(Int(value), std::to_string(value));
  EXPECT_EQ(Text([](TextBuffer& out) { out.Uint(std::numeric_limits<uint64_t>::max()); }),
            "18446744073709551615");
}

TEST(TextBuffer, KeepsTheSecondsOfTheTimeBefore) {
  EXPECT_EQ(Text([](TextBuffer& out) {
              for (const int64_t ns : {1736408883704643212, 1736408883999999999,
                                       1736408884000000000, 5'000'000'001, 1736408883000000001}) {
                out.Us(ns);
                out += ' ';
              }
            }),
            "1736408883704643.212 1736408883999999.999 1736408884000000.000 5000000.001 "
            "1736408883000000.001 ");
  EXPECT_EQ(Us(999'999'999'999'999'999), "999999999999999.999");
  EXPECT_EQ(Us(1'000'000'000'000'000'000), "1000000000000000.000");
  EXPECT_EQ(Us(-1), "-0.001");
}

TEST(TextBuffer, BinaryFractionsLookLikeTheirDoubles) {
  EXPECT_EQ(Mb(0), "0.0");
  EXPECT_EQ(Mb(512), "0.00048828125");
  EXPECT_EQ(Mb(4), "3.814697265625e-06");
  EXPECT_EQ(Mb(-1024), "-0.0009765625");
  EXPECT_EQ(Mb(3 << 20), "3.0");
  std::mt19937_64 random(7);
  for (int i = 0; i < 200'000; ++i) {
    const int64_t value = static_cast<int64_t>(random() >> (1 + random() % 62));
    for (const unsigned shift : {10U, 20U}) {
      ASSERT_EQ(Text([&](TextBuffer& out) { out.BinaryFraction(value, shift); }),
                AsDouble(value, shift))
          << value;
    }
  }
}

TEST(TextBuffer, GrowsWithTextsOfAnySize) {
  const std::string large(100'000, 'x');
  EXPECT_EQ(Text([&](TextBuffer& out) {
              out += "a";
              out += large;
              out += std::string_view();
              out += 'b';
            }),
            "a" + large + "b");
}

TEST(TextBuffer, NumbersOfJsonHaveNoSuperfluousZero) {
  EXPECT_EQ(Text([](TextBuffer& out) { out.JsonNumber(1800); }), "1800");
  EXPECT_EQ(Text([](TextBuffer& out) { out.JsonNumber(1.5); }), "1.5");
  EXPECT_EQ(Text([](TextBuffer& out) { out.JsonNumber(NAN); }), "null");
}

TEST(RowFinder, FindsInAnyOrderWhatABinarySearchFinds) {
  const std::vector<uint32_t> rows = {2, 3, 5, 7, 11};
  RowFinder<uint32_t> finder;
  std::mt19937 random(7);
  for (int i = 0; i < 1000; ++i) {
    const auto wanted = static_cast<uint32_t>(i < 14 ? i : static_cast<int>(random() % 14));
    const auto place = std::find(rows.begin(), rows.end(), wanted);
    const size_t found = finder.Find(rows, wanted);
    EXPECT_EQ(found,
              place == rows.end() ? finder.kNotFound : static_cast<size_t>(place - rows.begin()));
  }
  EXPECT_EQ(RowFinder<uint32_t>().Find({}, 1), RowFinder<uint32_t>::kNotFound);
}

}  // namespace
}  // namespace steplens::exporting
