#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "table/console.h"
#include "table/csv.h"
#include "table/display_width.h"
#include "table/json.h"

namespace steplens::table {
namespace {

Table OneText(std::string_view text) {
  Table table("t");
  table.AppendText(table.AddColumn("name", CellType::kText), text);
  return table;
}

// Two rows: one full, one with every number empty.
Table Mixed() {
  Table table("mixed");
  const size_t name = table.AddColumn("Name", CellType::kText);
  const size_t count = table.AddColumn("Count", CellType::kInt);
  const size_t dur = table.AddColumn("Duration(us)", CellType::kTimeUs);
  const size_t ratio = table.AddColumn("Ratio(%)", CellType::kDouble, 2);
  table.AppendText(name, "aten::add");
  table.AppendInt(count, 3);
  table.AppendInt(dur, 12340);
  table.AppendDouble(ratio, 0.1);
  table.AppendText(name, "");
  table.AppendInt(count, kNull);
  table.AppendInt(dur, kNull);
  table.AppendDouble(ratio, std::nan(""));
  return table;
}

TEST(ToCsv, WritesHeaderAndRows) {
  EXPECT_EQ(ToCsv(Mixed()), "Name,Count,Duration(us),Ratio(%)\naten::add,3,12.340,0.1\n,,,\n");
}

TEST(ToCsv, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(ToCsv(OneText("a \"b\", c")), "name\n\"a \"\"b\"\", c\"\n");
  EXPECT_EQ(ToCsv(OneText("矩阵乘 x")), "name\n矩阵乘 x\n");
}

TEST(ToJson, WritesOneObjectPerRow) {
  EXPECT_EQ(ToJson(Mixed()),
            "[\n"
            R"x({"Name": "aten::add", "Count": 3, "Duration(us)": 12.34, "Ratio(%)": 0.1},)x"
            "\n"
            R"x({"Name": "", "Count": null, "Duration(us)": null, "Ratio(%)": null})x"
            "\n]\n");
}

TEST(ToJson, KeepsEveryDigitOfATime) {
  Table table("t");
  const size_t at = table.AddColumn("at", CellType::kTimeUs);
  for (const int64_t ns : {int64_t{1736412474714493391}, int64_t{5000}, int64_t{0}, int64_t{-10}}) {
    table.AppendInt(at, ns);
  }
  EXPECT_EQ(ToJson(table),
            "[\n{\"at\": 1736412474714493.391},\n{\"at\": 5},\n{\"at\": 0},\n{\"at\": -0.01}\n]\n");
}

TEST(ToJson, NamesSeveralTables) {
  const Table tables[] = {OneText("x"), Table("none")};
  EXPECT_EQ(ToJson(tables), "{\n\"t\": [\n{\"name\": \"x\"}\n],\n\"none\": [\n]\n}\n");
}

TEST(ToConsole, AlignsNumbersRightAndTextsLeft) {
  EXPECT_EQ(ToConsole(Mixed(), {.title = true}),
            "mixed\n"
            "Name       Count  Duration(us)  Ratio(%)\n"
            "---------  -----  ------------  --------\n"
            "aten::add      3        12.340      0.10\n"
            "\n");
}

TEST(ToConsole, CountsChineseAsTwoColumns) {
  Table table("t");
  const size_t name = table.AddColumn("op", CellType::kText);
  const size_t count = table.AddColumn("n", CellType::kInt);
  table.AppendText(name, "矩阵");
  table.AppendInt(count, 1);
  table.AppendText(name, "abcd");
  table.AppendInt(count, 2);
  EXPECT_EQ(ToConsole(table, {}), "op    n\n----  -\n矩阵  1\nabcd  2\n");
}

TEST(ToConsole, ShortensTextsToTheWidthAndNeverNumbers) {
  Table table("t");
  const size_t name = table.AddColumn("name", CellType::kText);
  const size_t count = table.AddColumn("count", CellType::kInt);
  table.AppendText(name, "abcdefghijklmnopqrstuvwxyz");
  table.AppendInt(count, 1234567890);
  EXPECT_EQ(ToConsole(table, {.width = 27}),
            "name                  count\n"
            "---------------  ----------\n"
            "abcdefg…tuvwxyz  1234567890\n");
}

TEST(ToConsole, FoldsHeadersBeforeItShortensTexts) {
  Table table("t");
  const size_t name = table.AddColumn("Name", CellType::kText);
  const size_t total = table.AddColumn("Total Time(us)", CellType::kTimeUs);
  table.AppendText(name, "abcdefghijklmno");
  table.AppendInt(total, 1500);
  EXPECT_EQ(ToConsole(table, {.width = 24}),
            "                 Total\n"
            "                  Time\n"
            "Name              (us)\n"
            "---------------  -----\n"
            "abcdefghijklmno  1.500\n");
}

Table WideTable(size_t rows) {
  Table table("t");
  for (const char* name : {"Computing", "Communication", "Overlapped"}) {
    const size_t column = table.AddColumn(name, CellType::kTimeUs);
    for (size_t row = 0; row < rows; ++row) {
      table.AppendInt(column, static_cast<int64_t>(row) * 1000);
    }
  }
  return table;
}

TEST(ToConsole, TurnsAFewWideRowsSideways) {
  EXPECT_EQ(ToConsole(WideTable(2), {.width = 30}),
            "Computing      0.000  1.000\n"
            "Communication  0.000  1.000\n"
            "Overlapped     0.000  1.000\n");
  EXPECT_EQ(ToConsole(WideTable(2), {.width = 22}),
            "Computing      0.000\n"
            "Communication  0.000\n"
            "Overlapped     0.000\n"
            "\n"
            "Computing      1.000\n"
            "Communication  1.000\n"
            "Overlapped     1.000\n");
  EXPECT_THAT(ToConsole(WideTable(20), {.width = 30}),
              ::testing::StartsWith("Computing  Communication  Overlapped\n"));
  EXPECT_THAT(ToConsole(WideTable(2), {}),
              ::testing::StartsWith("Computing  Communication  Overlapped\n"));
}

TEST(ToConsole, DrawsSharesAsBars) {
  Table table("t");
  const size_t ratio = table.AddColumn("ratio", CellType::kDouble, 1);
  table.MarkShare(ratio);
  for (const double value : {50.0, 25.0, 5.625, 0.0}) table.AppendDouble(ratio, value);
  EXPECT_EQ(ToConsole(table, {.bars = true}),
            "ratio\n"
            "-----  ----------\n"
            " 50.0  ██████████\n"
            " 25.0  █████\n"
            "  5.6  █▏\n"
            "  0.0\n");
  EXPECT_THAT(ToConsole(table, {}), ::testing::Not(::testing::HasSubstr("█")));
}

TEST(ToConsole, LetsNoControlCharacterThrough) {
  EXPECT_EQ(ToConsole(OneText("a\x1b[31m\n\xff b"), {}),
            "name\n----------\na\xEF\xBF\xBD[31m\xEF\xBF\xBD\xEF\xBF\xBD b\n");
}

TEST(ToConsole, SeparatesTablesByAnEmptyLine) {
  const Table tables[] = {OneText("x"), OneText("y")};
  EXPECT_EQ(ToConsole(tables, {}), "name\n----\nx\n\nname\n----\ny\n");
}

TEST(ToConsole, KeepsHugeDoublesShort) {
  Table table("t");
  table.AppendDouble(table.AddColumn("x", CellType::kDouble), 1e300);
  EXPECT_EQ(ToConsole(table, {}), "     x\n------\n1e+300\n");
}

TEST(ToConsole, KeepsTimesOfTodayApart) {
  Table table("t");
  table.AppendDouble(table.AddColumn("x", CellType::kDouble), 1736410576431645.2);
  EXPECT_THAT(ToConsole(table, {}), ::testing::HasSubstr("1736410576431645.2"));
}

TEST(ShortenMiddle, KeepsBothEndsWithinTheWidth) {
  EXPECT_EQ(ShortenMiddle("short", 5), "short");
  EXPECT_EQ(ShortenMiddle("abcdef", 5), "ab…ef");
  EXPECT_EQ(ShortenMiddle("abcdef", 1), "…");
  EXPECT_EQ(ShortenMiddle("abcdef", 0), "");
  EXPECT_EQ(ShortenMiddle("矩阵乘法运算", 6), "矩…算");
  EXPECT_LE(DisplayWidth(ShortenMiddle("矩阵乘法运算", 7)), 7u);
}

TEST(DisplayWidth, CountsCombiningMarksAndEmoji) {
  EXPECT_EQ(DisplayWidth("e\xCC\x81"), 1u);
  EXPECT_EQ(DisplayWidth("😀"), 2u);
  EXPECT_EQ(DisplayWidth("ＡＢ"), 4u);
}

}  // namespace
}  // namespace steplens::table
