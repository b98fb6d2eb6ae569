#include "table/xlsx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "table/xlsx_text.h"
#include "table/zip_check.h"

namespace steplens::table {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class WriteXlsxTest : public ::testing::Test {
 protected:
  WriteXlsxTest()
      : folder_(fs::temp_directory_path() / ("steplens_xlsx_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~WriteXlsxTest() override { fs::remove_all(folder_); }
  void SetUp() override {
    const Status status = WriteXlsx(Path("probe.xlsx"), {});
    if (!status.ok() && status.error().code == ErrorCode::kUnsupported) {
      GTEST_SKIP() << status.error().message;
    }
    fs::remove(Path("probe.xlsx"));
  }
  std::string Path(std::string_view name) const { return folder_ / name; }
  ptrdiff_t FileCount() const { return std::distance(fs::directory_iterator(folder_), {}); }

  const fs::path folder_;
};

Table OfEveryType() {
  Table table("every/type");
  const size_t name = table.AddColumn("<名称>", CellType::kText);
  const size_t count = table.AddColumn("Count", CellType::kInt);
  const size_t dur = table.AddColumn("Duration(us)", CellType::kTimeUs);
  const size_t ratio = table.AddColumn("Ratio", CellType::kDouble);
  table.AppendText(name, std::string("矩阵 <script>\0\xff", 16));
  table.AppendInt(count, (int64_t{1} << 53) + 1);
  table.AppendInt(dur, 1736412474714493391);
  table.AppendDouble(ratio, INFINITY);
  table.AppendText(name, "");
  table.AppendInt(count, kNull);
  table.AppendInt(dur, kNull);
  table.AppendDouble(ratio, std::nan(""));
  return table;
}

Table Numbers(int64_t count) {
  Table table("numbers");
  const size_t number = table.AddColumn("number", CellType::kInt);
  for (int64_t i = 0; i < count; ++i) table.AppendInt(number, i);
  return table;
}

TEST_F(WriteXlsxTest, WritesAZipOfWholeMembers) {
  const Table table = OfEveryType();
  const Table empty("no columns");
  const Sheet sheets[] = {{&table, "", {}, 0}, {&table, "merged", {20}, 2}, {&empty, "", {}, 0}};
  const Status status = WriteXlsx(Path("out.xlsx"), sheets);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_THAT(*ReadFile(Path("out.xlsx")), StartsWith("PK\3\4"));
  EXPECT_TRUE(*HoldsWholeXmlMembers(Path("out.xlsx")));
  EXPECT_EQ(FileCount(), 1);
}

TEST_F(WriteXlsxTest, GivesTheSameBytesForTheSameTables) {
  const Table table = OfEveryType();
  const Sheet sheet{&table, "", {}, 0};
  ASSERT_TRUE(WriteXlsx(Path("a.xlsx"), std::span(&sheet, 1)).ok());
  ASSERT_TRUE(WriteXlsx(Path("b.xlsx"), std::span(&sheet, 1)).ok());
  EXPECT_EQ(*ReadFile(Path("a.xlsx")), *ReadFile(Path("b.xlsx")));
}

TEST_F(WriteXlsxTest, SaysWhichFolderIsMissing) {
  const Status status = WriteXlsx(Path("absent/out.xlsx"), {});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kIo);
  EXPECT_THAT(status.error().message, HasSubstr("absent/out.xlsx: cannot create"));
}

// A limit on the size of files stands for a full disk: writes fail half-way. Small limits make the
// library fail; with larger ones the archive is sound but its sheet stops half-way.
TEST_F(WriteXlsxTest, LeavesTheOldFileWhenTheDiskIsFull) {
  std::ofstream(Path("out.xlsx")) << "old";
  const Table streamed = Numbers(250000);
  const Table kept = Numbers(20000);
  const auto previous = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  for (const auto& [table, limit_bytes] :
       {std::pair(&streamed, rlim_t{1000000}), std::pair(&kept, rlim_t{0}),
        std::pair(&kept, rlim_t{4096}), std::pair(&kept, rlim_t{200000})}) {
    const Sheet sheet{table, "", {}, 0};
    const rlimit limit{limit_bytes, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const Status status = WriteXlsx(Path("out.xlsx"), std::span(&sheet, 1));
    ::setrlimit(RLIMIT_FSIZE, &before);
    ASSERT_FALSE(status.ok()) << limit_bytes;
    EXPECT_THAT(status.error().message, StartsWith(Path("out.xlsx") + ": "));
    EXPECT_EQ(*ReadFile(Path("out.xlsx")), "old");
    EXPECT_EQ(FileCount(), 1);
  }
  std::signal(SIGXFSZ, previous);
}

TEST_F(WriteXlsxTest, RefusesMoreColumnsThanASheetHolds) {
  Table wide("wide");
  for (int i = 0; i <= 16384; ++i) wide.AddColumn("c", CellType::kInt);
  const Sheet sheet{&wide, "", {}, 0};
  const Status status = WriteXlsx(Path("out.xlsx"), std::span(&sheet, 1));
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("wide: has 16385 columns"));
  EXPECT_EQ(FileCount(), 0);
}

TEST_F(WriteXlsxTest, CutFilesAreNoticed) {
  ASSERT_TRUE(WriteXlsx(Path("out.xlsx"), {}).ok());
  const std::string whole = *ReadFile(Path("out.xlsx"));
  for (size_t size = 0; size < whole.size(); size += 37) {
    std::ofstream(Path("cut.xlsx"), std::ios::binary) << whole.substr(0, size);
    ASSERT_FALSE(*HoldsWholeXmlMembers(Path("cut.xlsx"))) << size;
  }
}

TEST(ToXlsxText, ReplacesWhatXmlForbids) {
  EXPECT_EQ(ToXlsxText("a\tb\nc"), "a\tb\nc");
  EXPECT_EQ(ToXlsxText("a\x01\xff\xEF\xBF\xBF"), "a\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(ToXlsxText("<矩阵>"), "<矩阵>");
}

TEST(ToXlsxText, CutsLongTextsWithAnEllipsis) {
  EXPECT_EQ(ToXlsxText(std::string(32767, 'x')), std::string(32767, 'x'));
  EXPECT_EQ(ToXlsxText(std::string(32768, 'x')), std::string(32766, 'x') + "…");
  std::string emoji;  // two units each
  for (int i = 0; i < 16384; ++i) emoji += "😀";
  EXPECT_EQ(ToXlsxText(emoji).size(), 16383 * 4 + std::string_view("…").size());
}

TEST(SheetNames, AreLegal) {
  SheetNames names;
  EXPECT_EQ(names.Add("a[b]:c*d?e/f\\g"), "a_b__c_d_e_f_g");
  EXPECT_EQ(names.Add("'quoted'"), "_quoted_");
  EXPECT_EQ(names.Add(""), "Sheet");
  EXPECT_EQ(names.Add("History"), "History_2");
  EXPECT_EQ(names.Add("步骤"), "步骤");
}

TEST(SheetNames, AreUniqueWithinThirtyOneCharacters) {
  SheetNames names;
  const std::string longest(31, 'x');
  EXPECT_EQ(names.Add(longest + "yz"), longest);
  EXPECT_EQ(names.Add(longest), std::string(29, 'x') + "_2");
  EXPECT_EQ(names.Add("Steps"), "Steps");
  EXPECT_EQ(names.Add("steps"), "steps_2");
  EXPECT_EQ(names.Add("STEPS"), "STEPS_3");
}

}  // namespace
}  // namespace steplens::table
