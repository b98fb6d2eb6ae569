#include "readers/ascend_text/number_cell.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "base/number.h"
#include "store/tables.h"

namespace steplens::readers {
namespace {

using store::kNone;

TEST(ParseNumberCell, TakesTheShortWayToTheSameNumber) {
  constexpr std::string_view kBytes = "0123456789..-+e \t";
  std::mt19937 random(5);
  for (int round = 0; round < 100000; ++round) {
    std::string cell(1 + random() % 20, '\0');
    const size_t choices = round % 2 == 0 ? 11 : kBytes.size();
    for (char& c : cell) c = kBytes[random() % choices];
    const auto expected = ParseDouble(cell);
    const double found = ParseNumberCell(cell);
    ASSERT_EQ(std::isnan(found), !expected) << cell;
    if (expected) {
      ASSERT_EQ(found, *expected) << cell;
    }
  }
}

TEST(ParseNumberCell, RefusesWhatIsNoNumber) {
  for (const std::string_view cell :
       {"", ".", "N/A", "nan", "inf", "1,5", "1.5.2", "0x10", "1e999", "--1"}) {
    EXPECT_TRUE(std::isnan(ParseNumberCell(cell))) << cell;
  }
}

TEST(ParseWholeCell, AcceptsWholeNumbersOnly) {
  EXPECT_EQ(ParseWholeCell("4294967295"), 4294967295);
  EXPECT_EQ(ParseWholeCell("50.0"), 50);
  EXPECT_EQ(ParseWholeCell(" -3\t"), -3);
  EXPECT_EQ(ParseWholeCell("9223372036854775807"), 9223372036854775807);
  EXPECT_EQ(ParseWholeCell("9223372036854775808"), kNone);
  EXPECT_EQ(ParseWholeCell("1.5"), kNone);
  EXPECT_EQ(ParseWholeCell(".0"), kNone);
  EXPECT_EQ(ParseWholeCell(""), kNone);
}

TEST(ParseUsCell, KeepsEveryNanosecond) {
  EXPECT_EQ(ParseUsCell("1736408883704643.212\t"), 1736408883704643212);
  EXPECT_EQ(ParseUsCell("0"), 0);
  EXPECT_EQ(ParseUsCell("-1.5"), -1500);
  EXPECT_EQ(ParseUsCell("\t"), kNone);
}

TEST(ParseUsCell, RefusesTimesWhoseSumMightOverflow) {
  EXPECT_EQ(ParseUsCell("4611686018427387.904"), 4611686018427387904);
  EXPECT_EQ(ParseUsCell("4611686018427387.905"), kNone);
  EXPECT_EQ(ParseUsCell("-9223372036854775.807"), kNone);
}

TEST(ParseBytesCell, IsExactForSizesWrittenInFull) {
  EXPECT_EQ(ParseBytesCell("18816.5", 1024), 19268096);
  for (const int64_t size_bytes :
       {int64_t{1}, int64_t{513}, int64_t{1000730113}, int64_t{99999999999}}) {
    const double mb = static_cast<double>(size_bytes) / (1024 * 1024);
    EXPECT_EQ(ParseBytesCell(FormatDouble(mb), 1024 * 1024), size_bytes);
  }
  EXPECT_EQ(ParseBytesCell("1e18", 1024), kNone);
  EXPECT_EQ(ParseBytesCell("x", 1024), kNone);
}

}  // namespace
}  // namespace steplens::readers
