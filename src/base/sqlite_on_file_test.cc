#include "base/sqlite_on_file.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>

namespace steplens {
namespace {

namespace fs = std::filesystem;

class SqliteOnFileTest : public ::testing::Test {
 protected:
  SqliteOnFileTest()
      : folder_(fs::temp_directory_path() / ("steplens_on_file_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~SqliteOnFileTest() override { fs::remove_all(folder_); }
  std::string Path(std::string_view name) const { return folder_ / name; }
  size_t CountFiles() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  const fs::path folder_;
};

void Execute(sqlite3* db, const std::string& sql) {
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(db);
}

// The only number that a query gives.
int64_t Number(sqlite3* db, const char* sql) {
  int64_t number = -1;
  const auto take = [](void* out, int, char** cells, char**) {
    *static_cast<int64_t*>(out) = std::stoll(cells[0]);
    return 0;
  };
  EXPECT_EQ(sqlite3_exec(db, sql, take, &number, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  return number;
}

int64_t NumberIn(const std::string& path, const char* sql) {
  sqlite3* db = nullptr;
  sqlite3_open(path.c_str(), &db);
  const int64_t number = Number(db, sql);
  sqlite3_close(db);
  return number;
}

// Enough rows that pages are written before the end.
constexpr const char* kManyRows =
    "CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
    "5000) SELECT i, hex(randomblob(20)) AS text FROM n";

TEST_F(SqliteOnFileTest, NothingHasANameUntilItIsWhole) {
  Result<AtomicFile> file = AtomicFile::Create(Path("a.db"));
  ASSERT_TRUE(file.ok());
  {
    Result<SqliteConnection> db = OpenSqliteOn(*file);
    ASSERT_TRUE(db.ok());
    Execute(db->get(), "PRAGMA cache_size = 10");
    Execute(db->get(), kManyRows);
    Execute(db->get(), "CREATE INDEX by_text ON t (text)");
    EXPECT_EQ(CountFiles(), 0u);
  }
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(CountFiles(), 1u);
  EXPECT_EQ(NumberIn(Path("a.db"), "SELECT count(*) FROM t"), 5000);
  EXPECT_EQ(NumberIn(Path("a.db"), "SELECT count(*) FROM pragma_integrity_check"), 1);
}

TEST_F(SqliteOnFileTest, ACopyIsChangedAndTheOriginalIsNot) {
  sqlite3* original = nullptr;
  sqlite3_open(Path("a.db").c_str(), &original);
  Execute(original, "PRAGMA journal_mode = WAL");  // what the copy must do without
  Execute(original, kManyRows);
  sqlite3_close(original);
  Result<AtomicFile> file = AtomicFile::Create(Path("b.db"));
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(CopySqlite(Path("a.db"), *file).ok());
  {
    Result<SqliteConnection> db = OpenSqliteOn(*file);
    ASSERT_TRUE(db.ok());
    Execute(db->get(), "INSERT INTO t VALUES (0, 'more')");
  }
  ASSERT_TRUE(file->Flush().ok());
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(NumberIn(Path("a.db"), "SELECT count(*) FROM t"), 5000);
  EXPECT_EQ(NumberIn(Path("b.db"), "SELECT count(*) FROM t"), 5001);
}

TEST_F(SqliteOnFileTest, WhatIsNoDatabaseIsSaid) {
  Result<AtomicFile> file = AtomicFile::Create(Path("a.db"));
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->WriteAt(0, std::string(5000, 'x')).ok());
  const Result<SqliteConnection> db = OpenSqliteOn(*file);
  if (db.ok()) {
    EXPECT_NE(sqlite3_exec(db->get(), "CREATE TABLE t (a)", nullptr, nullptr, nullptr), SQLITE_OK);
  } else {
    EXPECT_NE(db.error().message.find("not a database"), std::string::npos) << db.error().message;
  }
  EXPECT_FALSE(CopySqlite(Path("absent.db"), *file).ok());
}

// A database may be somebody's: what its schema would do when it is written to is not done.
TEST_F(SqliteOnFileTest, CodeInTheSchemaDoesNotRun) {
  sqlite3* theirs = nullptr;
  sqlite3_open(Path("theirs.db").c_str(), &theirs);
  Execute(theirs,
          "CREATE TABLE t (a); CREATE TABLE witness (a); CREATE TRIGGER spy AFTER INSERT ON t "
          "BEGIN INSERT INTO witness VALUES (1); END");
  sqlite3_close(theirs);
  Result<AtomicFile> file = AtomicFile::Create(Path("copy.db"));
  ASSERT_TRUE(file.ok() && CopySqlite(Path("theirs.db"), *file).ok());
  {
    const Result<SqliteConnection> db = OpenSqliteOn(*file);
    ASSERT_TRUE(db.ok());
    Execute(db->get(), "INSERT INTO t VALUES (7)");
    EXPECT_EQ(Number(db->get(), "SELECT count(*) FROM t"), 1);
    EXPECT_EQ(Number(db->get(), "SELECT count(*) FROM witness"), 0);
    EXPECT_NE(sqlite3_exec(db->get(), "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql=''",
                           nullptr, nullptr, nullptr),
              SQLITE_OK);
  }
}

}  // namespace
}  // namespace steplens
