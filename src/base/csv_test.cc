#include "base/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace steplens {
namespace {

using Row = std::vector<std::string>;
using testing::ElementsAre;

CsvReader MakeReader(std::string_view text, size_t block_bytes = CsvReader::kBlockBytes) {
  return CsvReader(MakeMemorySource(text), "x.csv", block_bytes);
}

std::vector<Row> ReadAll(std::string_view text, size_t block_bytes = CsvReader::kBlockBytes) {
  CsvReader reader = MakeReader(text, block_bytes);
  std::vector<Row> rows;
  while (true) {
    const auto has_row = reader.Next();
    if (!has_row.ok() || !*has_row) return rows;
    rows.emplace_back(reader.cells().begin(), reader.cells().end());
  }
}

std::string Quoted(std::string_view text) {
  std::string out;
  AppendCsvCell(out, text);
  return out;
}

TEST(GuardedCell, MakesTextsOfFormulasAndLeavesNumbers) {
  for (const char* formula :
       {"=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "-", "=", "-inf"})
    EXPECT_EQ(GuardedCell(formula), std::string("'") + formula);
  for (const char* plain : {"", "-1.5", "-0", "-1e-05", "aten::add", "a=b", "'=1", " =1", "1-2"})
    EXPECT_EQ(GuardedCell(plain), plain);
}

TEST(AppendCsvCell, QuotesOnlyWhereItMust) {
  EXPECT_EQ(Quoted("aten::add"), "aten::add");
  EXPECT_EQ(Quoted(""), "");
  EXPECT_EQ(Quoted(" 1.5\t"), " 1.5\t");
  EXPECT_EQ(Quoted("32,3"), "\"32,3\"");
  EXPECT_EQ(Quoted("\"32,3\""), "\"\"\"32,3\"\"\"");
  EXPECT_EQ(Quoted("a;\r\nb"), "\"a;\r\nb\"");
}

TEST(CsvReader, SplitsRowsWithEitherLineEnd) {
  EXPECT_THAT(ReadAll("a,b\r\n1,2\r\n"), ElementsAre(Row{"a", "b"}, Row{"1", "2"}));
  EXPECT_THAT(ReadAll("a,b\n1,2\n"), ElementsAre(Row{"a", "b"}, Row{"1", "2"}));
}

TEST(CsvReader, TakesCarriageReturnsAsLineEndsWhereTheFirstLineEndsSo) {
  for (const size_t block_bytes : {size_t{3}, size_t{4}, CsvReader::kBlockBytes}) {
    EXPECT_THAT(ReadAll("a,b\r1,\"x;\ry\"\r\r3,4\r", block_bytes),
                ElementsAre(Row{"a", "b"}, Row{"1", "x;\ny"}, Row{"3", "4"}));
    EXPECT_THAT(ReadAll("a,b\r\n1,x\ry\r\n", block_bytes),
                ElementsAre(Row{"a", "b"}, Row{"1", "x\ry"}));
    EXPECT_THAT(ReadAll("a,b\r\r\n1,2\r\r\n", block_bytes),
                ElementsAre(Row{"a", "b"}, Row{"1", "2"}));
  }
}

TEST(CsvReader, KeepsEmptyCells) {
  EXPECT_THAT(ReadAll("a,,\n,,\n"), ElementsAre(Row{"a", "", ""}, Row{"", "", ""}));
  EXPECT_THAT(ReadAll("a,"), ElementsAre(Row{"a", ""}));
}

TEST(CsvReader, SkipsByteOrderMarkAndBlankLines) {
  EXPECT_THAT(ReadAll("\xEF\xBB\xBF\n\r\na,b\n\n1,2\n\r\n"),
              ElementsAre(Row{"a", "b"}, Row{"1", "2"}));
  EXPECT_THAT(ReadAll("\xEF\xBB\xBF"), ElementsAre());
  EXPECT_THAT(ReadAll("\"\"\n"), ElementsAre(Row{""}));
}

TEST(CsvReader, UnquotesCells) {
  EXPECT_THAT(ReadAll("\"32,3\",x\n"), ElementsAre(Row{"32,3", "x"}));
  EXPECT_THAT(ReadAll("\"\"\"32,3\"\"\",\"\"\n"), ElementsAre(Row{"\"32,3\"", ""}));
  EXPECT_THAT(ReadAll("\"a;\r\nb\",x\r\n"), ElementsAre(Row{"a;\r\nb", "x"}));
  EXPECT_THAT(ReadAll("x,\"a\"\r\n"), ElementsAre(Row{"x", "a"}));
}

TEST(CsvReader, TakesStrayQuotesAsText) {
  EXPECT_THAT(ReadAll("5\"x,y\n"), ElementsAre(Row{"5\"x", "y"}));
  EXPECT_THAT(ReadAll("\"a\"b\"c,y\n"), ElementsAre(Row{"ab\"c", "y"}));
  EXPECT_THAT(ReadAll("\"12\"\t,y\n"), ElementsAre(Row{"12\t", "y"}));
}

TEST(CsvReader, CountsLinesInsideQuotes) {
  CsvReader reader = MakeReader("a\n\"1\n2\n3\"\n\nb\n");
  std::vector<uint64_t> lines;
  while (*reader.Next()) lines.push_back(reader.line());
  EXPECT_THAT(lines, ElementsAre(1, 2, 6));
}

// Quoted cells are looked through in windows: what matters may stand at any place of one.
TEST(CsvReader, QuotesAndLineBreaksMayStandAnywhereInALongCell) {
  for (size_t at = 0; at < 200; ++at) {
    for (const std::string_view part : {"\"", "\"\"", "\n", "\"\n", "\n\""}) {
      const std::string cell =
          std::string(at, 'x') + std::string(part) + std::string(130 - at % 130, ',');
      const std::string text = "a," + Quoted(cell) + ",z\nlast\n";
      ASSERT_THAT(ReadAll(text), ElementsAre(Row{"a", cell, "z"}, Row{"last"})) << at << part;
      CsvReader reader = MakeReader(text);
      while (*reader.Next()) {
      }
      const auto inside = std::count(cell.begin(), cell.end(), '\n');
      ASSERT_EQ(reader.line(), static_cast<uint64_t>(2 + inside)) << at << part;
    }
  }
}

TEST(CsvReader, KeptCellsStayWhileMoreRowsAreSplit) {
  CsvReader reader = MakeReader("a,b,c\n\"1\"\"\",2,3\nx,y,z\n");
  ASSERT_TRUE(*reader.Next());
  reader.KeepCells(2);
  ASSERT_TRUE(reader.NextBuffered());
  EXPECT_THAT(reader.cells(), ElementsAre("1\"", "2", "3"));
  reader.KeepCells(2);
  ASSERT_TRUE(reader.NextBuffered());
  EXPECT_THAT(reader.cells(), ElementsAre("x", "y", "z"));
  EXPECT_THAT(reader.kept_cells(), ElementsAre("a", "b", "1\"", "2"));
  reader.DropKeptCells();
  EXPECT_THAT(reader.kept_cells(), ElementsAre());
}

TEST(CsvReader, TellsHowTheLastRowEnds) {
  CsvReader whole = MakeReader("a,b\n");
  ASSERT_TRUE(*whole.Next());
  EXPECT_FALSE(whole.ends_without_newline());
  EXPECT_FALSE(whole.ends_in_quotes());

  CsvReader half = MakeReader("a,b");
  ASSERT_TRUE(*half.Next());
  EXPECT_TRUE(half.ends_without_newline());
  EXPECT_FALSE(half.ends_in_quotes());

  CsvReader open = MakeReader("a,\"b\n\"\"c");
  ASSERT_TRUE(*open.Next());
  EXPECT_TRUE(open.ends_in_quotes());
  EXPECT_THAT(open.cells(), ElementsAre("a", "b\n\"c"));
  EXPECT_FALSE(*open.Next());
}

TEST(CsvReader, SaysHowMuchTextIsSplit) {
  CsvReader reader = MakeReader("a,b\n1,2\n");
  ASSERT_TRUE(*reader.Next());
  EXPECT_EQ(reader.text_position(), 4);
  ASSERT_TRUE(*reader.Next());
  EXPECT_EQ(reader.text_position(), 8);
}

TEST(CsvReader, KeepsCellsOfEarlierRowsWhileBuffered) {
  CsvReader reader = MakeReader("\"a\"\"b\",1\n\n\"c\"\"d\",2\ne,3");
  EXPECT_FALSE(reader.NextBuffered());
  ASSERT_TRUE(*reader.Next());
  const std::vector<std::string_view> first(reader.cells().begin(), reader.cells().end());
  ASSERT_TRUE(reader.NextBuffered());
  EXPECT_THAT(reader.cells(), ElementsAre("c\"d", "2"));
  EXPECT_THAT(first, ElementsAre("a\"b", "1"));
  EXPECT_EQ(reader.line(), 3);
}

TEST(CsvReader, EmptyTextHasNoRow) {
  EXPECT_THAT(ReadAll(""), ElementsAre());
  EXPECT_THAT(ReadAll("\n\r\n"), ElementsAre());
}

TEST(CsvReader, RefusesARowWithoutEnd) {
  const std::string text = "a,b\n1,\"" + std::string(3 * CsvReader::kMaxRowBytes, 'x');
  CsvReader reader = MakeReader(text);
  ASSERT_TRUE(*reader.Next());
  const auto next = reader.Next();
  ASSERT_FALSE(next.ok());
  EXPECT_EQ(next.error().code, ErrorCode::kCorruptData);
  EXPECT_EQ(next.error().message,
            "x.csv:2: a row of more than 16 MiB; a closing quote may be missing");
}

// Gives its text, then fails.
class FailingSource : public ByteSource {
 public:
  explicit FailingSource(std::string_view text) : text_(MakeMemorySource(text)) {}
  Result<size_t> Read(char* buffer, size_t size) override {
    Result<size_t> got = text_->Read(buffer, size);
    if (*got == 0) return Error{ErrorCode::kIo, "the disk is gone"};
    return got;
  }
  uint64_t file_position() const override { return text_->file_position(); }

 private:
  std::unique_ptr<ByteSource> text_;
};

TEST(CsvReader, GivesTheRowsBeforeAReadError) {
  CsvReader reader(std::make_unique<FailingSource>("a\nb\n"), "x.csv");
  EXPECT_TRUE(*reader.Next());
  EXPECT_TRUE(*reader.Next());
  for (int i = 0; i < 2; ++i) {
    const auto next = reader.Next();
    ASSERT_FALSE(next.ok());
    EXPECT_EQ(next.error().message, "the disk is gone");
  }
}

TEST(CsvReader, ReadsWhatAppendCsvCellWroteWithAnyBlockSize) {
  constexpr std::string_view kPieces[] = {
      "a",
      ",",
      "\"",
      "\n",
      "\r\n",
      "\r",
      "\t",
      "",
      "1.5",
      "\xE4\xBD\xA0",
      "a text that is longer than one window of the scan, by far"};
  std::mt19937 random(7);
  const auto pick = [&](size_t count) { return random() % count; };
  for (int round = 0; round < 300; ++round) {
    std::vector<Row> rows(1 + pick(5));
    std::string text;
    for (Row& row : rows) {
      row.resize(2 + pick(4));
      for (size_t i = 0; i < row.size(); ++i) {
        for (size_t n = pick(5); n > 0; --n) row[i] += kPieces[pick(std::size(kPieces))];
        if (i > 0) text += ',';
        AppendCsvCell(text, row[i]);
      }
      text += pick(2) == 0 ? "\n" : "\r\n";
    }
    for (const size_t block_bytes : {size_t{1}, size_t{5}, size_t{64}, CsvReader::kBlockBytes}) {
      ASSERT_EQ(ReadAll(text, block_bytes), rows) << text;
    }
  }
}

TEST(CsvReader, AnyTextIsSplitTheSameWithAnyBlockSize) {
  constexpr std::string_view kBytes = "a,\"\n\r\t\xEF\xBB\xBF";
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 40, '\0');
    for (char& c : text) c = kBytes[random() % kBytes.size()];
    const auto rows = ReadAll(text);
    for (const size_t block_bytes : {size_t{1}, size_t{4}, size_t{7}}) {
      ASSERT_EQ(ReadAll(text, block_bytes), rows) << testing::PrintToString(text);
    }
  }
}

}  // namespace
}  // namespace steplens
