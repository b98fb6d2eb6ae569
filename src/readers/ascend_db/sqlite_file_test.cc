#include "readers/ascend_db/sqlite_file.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <iterator>

#include "base/cancel.h"
#include "base/testing/scratch_folder.h"
#include "readers/ascend_db/test_db.h"

namespace steplens::readers {
namespace {

using namespace ascend_db_test;

size_t CountFiles(const std::string& directory) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(directory), {}));
}

TEST(SqliteFile, OpensPathsWithAnyCharacterAndLeavesNothingBeside) {
  ScratchFolder directory;
  for (const char* name : {"a b.db", "a#b.db", "a?b=c&d.db", "100%41.db", "数据.db", "it's.db"}) {
    const std::string path = directory / name;
    MakeDb(path, "PRAGMA journal_mode=WAL; CREATE TABLE TASK(a); INSERT INTO TASK VALUES (7)");
    const size_t files = CountFiles(directory.path());
    std::filesystem::permissions(path, std::filesystem::perms::owner_read);
    auto file = SqliteFile::Open(path);
    ASSERT_TRUE(file.ok()) << name << ": " << file.error().message;
    const std::array<std::string_view, 1> columns = {"a"};
    auto scan = Scan::Open(*file, "TASK", columns);
    ASSERT_TRUE(scan.ok());
    ASSERT_TRUE(scan->Next());
    EXPECT_EQ(scan->Int(0), 7);
    EXPECT_EQ(CountFiles(directory.path()), files);
  }
}

TEST(SqliteFile, OffersRealTablesOnly) {
  ScratchFolder directory;
  const std::string path = directory / "x.db";
  MakeDb(path,
         "CREATE TABLE TASK(a); CREATE VIEW CANN_API AS SELECT a FROM TASK;"
         "CREATE VIRTUAL TABLE PYTORCH_API USING fts5(a)");
  const auto file = SqliteFile::Open(path);
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file->HasTable("TASK"));
  EXPECT_FALSE(file->HasTable("CANN_API"));
  EXPECT_FALSE(file->HasTable("PYTORCH_API"));
}

TEST(SqliteFile, SaysWhatIsWrongWithTheFile) {
  ScratchFolder directory;
  const auto open = [&](const std::string& bytes) {
    std::ofstream(directory / "x.db", std::ios::binary) << bytes;
    const auto file = SqliteFile::Open(directory / "x.db");
    return file.ok() ? std::string("opened") : file.error().message;
  };
  EXPECT_EQ(open(""), "x.db: the database is empty (0 bytes)");
  EXPECT_EQ(open(std::string(4096, 'x')), "x.db: not an SQLite database");
  EXPECT_EQ(SqliteFile::Open(directory / "none.db").error().code, ErrorCode::kNotFound);
}

TEST(SqliteFile, NamesALogWhoseRowsAreNotVisible) {
  ScratchFolder directory;
  const std::string path = directory / "x.db";
  MakeDb(path, "CREATE TABLE TASK(a)");
  EXPECT_EQ(SqliteFile::Open(path)->unmerged_log(), "");
  std::ofstream(path + "-wal") << "rows";
  EXPECT_EQ(SqliteFile::Open(path)->unmerged_log(), "x.db-wal");
}

class ScanTest : public testing::Test {
 protected:
  // A scan of columns a, b of table T with one row, on its first row.
  Scan FirstRow(const std::string& values, std::array<std::string_view, 2> columns = {"a", "b"}) {
    const std::string path = directory_ / (std::to_string(++count_) + ".db");
    MakeDb(path, "CREATE TABLE T(a, b); INSERT INTO T VALUES (" + values + ")");
    file_ = std::make_unique<SqliteFile>(*SqliteFile::Open(path));
    auto scan = Scan::Open(*file_, "T", columns);
    EXPECT_TRUE(scan.ok() && scan->Next());
    return *std::move(scan);
  }

 private:
  ScratchFolder directory_;
  std::unique_ptr<SqliteFile> file_;
  int count_ = 0;
};

TEST_F(ScanTest, TakesIntegersFromAnyStorageClass) {
  Scan scan = FirstRow("'1736410576395167660', 25.0");
  EXPECT_EQ(scan.Int(0), 1736410576395167660);
  EXPECT_EQ(scan.Int(1), 25);
  EXPECT_EQ(scan.bad_cells(), 0u);
}

TEST_F(ScanTest, CountsCellsThatAreNoNumber) {
  Scan scan = FirstRow("'abc', x'00ff'");
  EXPECT_EQ(scan.Int(0), store::kNone);
  EXPECT_TRUE(std::isnan(scan.Double(1)));
  EXPECT_EQ(scan.bad_cells(), 2u);
  EXPECT_EQ(scan.first_bad_cell(), "row 1, column 'a': 'abc'");
}

TEST_F(ScanTest, NullAndHugeNumbersAreNotKnown) {
  Scan scan = FirstRow("NULL, 9e999");
  EXPECT_EQ(scan.Int(0), store::kNone);
  EXPECT_EQ(scan.bad_cells(), 0u);
  EXPECT_EQ(scan.Int(1), store::kNone);
  EXPECT_TRUE(std::isnan(scan.Double(1)));
}

TEST_F(ScanTest, OptionalColumnsMayBeAbsentOrHaveAnotherName) {
  Scan scan = FirstRow("1, 2", {"?newName|b", "?nowhere"});
  EXPECT_EQ(scan.Int(0), 2);
  EXPECT_EQ(scan.Int(1), store::kNone);
}

TEST(Scan, NamesTheMissingColumnAndThoseFound) {
  ScratchFolder directory;
  MakeDb(directory / "x.db", "CREATE TABLE T(a, b)");
  auto file = SqliteFile::Open(directory / "x.db");
  const std::array<std::string_view, 1> columns = {"startNs"};
  const auto scan = Scan::Open(*file, "T", columns);
  ASSERT_FALSE(scan.ok());
  EXPECT_EQ(scan.error().message, "x.db: table 'T' has no column 'startNs' (found: a, b)");
}

// An interior page whose children all are the page itself would be walked for longer than anybody
// waits.
TEST(Scan, EndsOnPagesThatLeadInCircles) {
  ScratchFolder directory;
  const std::string path = directory / "x.db";
  MakeDb(path,
         "PRAGMA page_size=512; CREATE TABLE T(a);"
         "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT "
         "INTO T SELECT i FROM n");
  std::fstream bytes(path, std::ios::in | std::ios::out | std::ios::binary);
  std::string page(512, '\0');
  bytes.seekg(512);
  bytes.read(page.data(), 512);
  ASSERT_EQ(page[0], 5) << "page 2 is the interior root of T";
  const size_t cells = static_cast<size_t>(static_cast<unsigned char>(page[3])) << 8 |
                       static_cast<unsigned char>(page[4]);
  for (size_t i = 0; i < cells; ++i) {
    const auto at = [&](size_t k) { return static_cast<unsigned char>(page[12 + 2 * i + k]); };
    page.replace(static_cast<size_t>(at(0) << 8 | at(1)), 4, std::string("\0\0\0\2", 4));
  }
  page.replace(8, 4, std::string("\0\0\0\2", 4));
  bytes.seekp(512);
  bytes.write(page.data(), 512);
  bytes.close();

  auto file = SqliteFile::Open(path);
  ASSERT_TRUE(file.ok());
  const std::array<std::string_view, 1> columns = {"a"};
  auto scan = Scan::Open(*file, "T", columns);
  ASSERT_TRUE(scan.ok());
  while (scan->Next()) {
  }
  EXPECT_EQ(scan->status().error().code, ErrorCode::kCorruptData);
}

TEST(Scan, StopsWhenCancelled) {
  ScratchFolder directory;
  MakeDb(directory / "x.db",
         "CREATE TABLE T(a);"
         "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) INSERT "
         "INTO T SELECT i FROM n");
  auto file = SqliteFile::Open(directory / "x.db");
  const std::array<std::string_view, 1> columns = {"a"};
  auto scan = Scan::Open(*file, "T", columns);
  RequestCancel();
  while (scan->Next()) {
  }
  ClearCancel();
  EXPECT_LT(scan->row_number(), 200000u);
  EXPECT_EQ(scan->status().error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace steplens::readers
