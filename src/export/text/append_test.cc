#include "export/text/append.h"

#include <gtest/gtest.h>

#include <limits>

namespace steplens::exporting {
namespace {

std::string Us(int64_t ns) {
  std::string out;
  AppendUs(out, ns);
  return out;
}
std::string UsNumber(int64_t ns) {
  std::string out;
  AppendUsNumber(out, ns);
  return out;
}
std::string Number(double value) {
  std::string out;
  AppendNumber(out, value);
  return out;
}

TEST(AppendUs, HasThreeDecimalsAndNeverRounds) {
  EXPECT_EQ(Us(1736408883704643212), "1736408883704643.212");
  EXPECT_EQ(Us(0), "0.000");
  EXPECT_EQ(Us(7), "0.007");
  EXPECT_EQ(Us(-1500), "-1.500");
  EXPECT_EQ(Us(std::numeric_limits<int64_t>::min()), "-9223372036854775.808");
}

TEST(AppendUsNumber, DropsZerosAtTheEnd) {
  EXPECT_EQ(UsNumber(145570), "145.57");
  EXPECT_EQ(UsNumber(12000), "12.0");
  EXPECT_EQ(UsNumber(0), "0");
  EXPECT_EQ(UsNumber(20), "0.02");
  EXPECT_EQ(UsNumber(100000), "100.0");
}

TEST(AppendNumber, LooksLikePython) {
  EXPECT_EQ(Number(0), "0.0");
  EXPECT_EQ(Number(2109.6015625), "2109.6015625");
  EXPECT_EQ(Number(8873.756000000001), "8873.756000000001");
  EXPECT_EQ(Number(1736408883732241.5), "1736408883732241.5");
  EXPECT_EQ(Number(4.1e-05), "4.1e-05");
  EXPECT_EQ(Number(0.0001), "0.0001");
  EXPECT_EQ(Number(1e16), "1e+16");
  EXPECT_EQ(Number(-1.0 / 1024), "-0.0009765625");
}

TEST(AppendJsonNumber, IsNullForWhatJsonCannotSay) {
  std::string out;
  AppendJsonNumber(out, std::numeric_limits<double>::quiet_NaN());
  AppendJsonNumber(out, 1800);
  EXPECT_EQ(out, "null1800");
}

TEST(WithLineBreaks, BreaksBehindEachSemicolon) {
  EXPECT_EQ(WithLineBreaks("32,3;64;"), "32,3;\r\n64;\r\n");
  EXPECT_EQ(WithLineBreaks(""), "");
}

}  // namespace
}  // namespace steplens::exporting
