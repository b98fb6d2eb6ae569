#include "table/sqlite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

namespace steplens::table {
namespace {

namespace fs = std::filesystem;

class WriteSqliteTest : public ::testing::Test {
 protected:
  WriteSqliteTest()
      : folder_(fs::temp_directory_path() / ("steplens_sqlite_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~WriteSqliteTest() override { fs::remove_all(folder_); }
  std::string Path(std::string_view name) const { return folder_ / name; }

  const fs::path folder_;
};

// The rows of a query, cells separated by '|', with NULL spelled out.
std::string Query(const std::string& path, const char* sql) {
  sqlite3* db = nullptr;
  std::string out;
  sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READONLY, nullptr);
  const auto append_row = [](void* text, int count, char** cells, char**) {
    for (int i = 0; i < count; ++i) {
      *static_cast<std::string*>(text) += std::string(cells[i] ? cells[i] : "NULL") + "|";
    }
    return 0;
  };
  if (sqlite3_exec(db, sql, append_row, &out, nullptr) != SQLITE_OK) out = sqlite3_errmsg(db);
  sqlite3_close(db);
  return out;
}

TEST_F(WriteSqliteTest, KeepsNamesValuesAndTypes) {
  Table table("step \"time\"");
  const size_t name = table.AddColumn("Name", CellType::kText);
  const size_t dur = table.AddColumn("Duration(us)", CellType::kTimeUs);
  const size_t ratio = table.AddColumn("Ratio", CellType::kDouble);
  table.AppendText(name, "矩阵 'x'");
  table.AppendInt(dur, 1736412474714493391);
  table.AppendDouble(ratio, 0.5);
  table.AppendText(name, "");
  table.AppendInt(dur, kNull);
  table.AppendDouble(ratio, std::nan(""));
  const Table tables[] = {table, Table("without columns")};
  ASSERT_TRUE(WriteSqlite(tables, Path("out.db")).ok());
  EXPECT_EQ(Query(Path("out.db"), R"x(SELECT Name, "Duration(ns)", Ratio FROM "step ""time""")x"),
            "矩阵 'x'|1736412474714493391|0.5||NULL|NULL|");
  EXPECT_EQ(Query(Path("out.db"), "SELECT count(*) FROM sqlite_schema"), "1|");
}

TEST_F(WriteSqliteTest, ReplacesAnOldFileOnlyWhenDone) {
  std::ofstream(Path("out.db")) << "old";
  Table twice("t");
  twice.AddColumn("a", CellType::kInt);
  twice.AddColumn("A", CellType::kInt);
  const Status failed = WriteSqlite(std::span(&twice, 1), Path("out.db"));
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().message, "t: duplicate column name: A");
  EXPECT_EQ(fs::file_size(Path("out.db")), 3u);

  Table good("t");
  good.AddColumn("a", CellType::kInt);
  ASSERT_TRUE(WriteSqlite(std::span(&good, 1), Path("out.db")).ok());
  EXPECT_EQ(Query(Path("out.db"), "SELECT count(*) FROM t"), "0|");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(WriteSqliteTest, SaysWhichFolderIsMissing) {
  const Status status = WriteSqlite({}, Path("absent/out.db"));
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, ::testing::HasSubstr("absent/out.db"));
}

}  // namespace
}  // namespace steplens::table
