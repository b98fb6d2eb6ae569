#include "export/db/sqlite_writer.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "base/testing/scratch_folder.h"

namespace steplens::exporting {
namespace {

// The one cell of a query.
std::string Cell(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  EXPECT_EQ(sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
  std::string out = "no row";
  const auto take = [](void* to, int, char** cells, char**) {
    *static_cast<std::string*>(to) = cells[0] == nullptr ? "NULL" : cells[0];
    return 0;
  };
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), take, &out, nullptr), SQLITE_OK) << sql;
  sqlite3_close(db);
  return out;
}

TEST(SqliteWriter, RowsOfTablesThatTakeTurnsAllArrive) {
  const ScratchFolder folder;
  const std::string path = folder.path() + "/x.db";
  constexpr int64_t kRows = 3 * static_cast<int64_t>(SqliteRows::kCells);
  Result<SqliteWriter> writer = SqliteWriter::Create(path);
  ASSERT_TRUE(writer.ok());
  {
    TableWriter first = writer->Table("FIRST", "id INTEGER PRIMARY KEY, start TEXT, half REAL");
    TableWriter second = writer->Table("SECOND", "name TEXT, missing INTEGER");
    for (int64_t i = 0; i < kRows; ++i) {
      first.Int(i).IntText(i + 1).Real(static_cast<double>(i) / 2).EndRow();
      if (i % 3 == 0) second.Text("n" + std::to_string(i)).Int(store::kNone).EndRow();
    }
    // Sees the rows that still wait.
    writer->Execute("CREATE TABLE COUNTED AS SELECT count(*) AS n FROM FIRST");
    first.Int(kRows).Null().Null().EndRow();
  }
  const Status status = writer->Commit();
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(Cell(path, "SELECT n FROM COUNTED"), std::to_string(kRows));
  EXPECT_EQ(Cell(path, "SELECT count(*) FROM FIRST"), std::to_string(kRows + 1));
  EXPECT_EQ(Cell(path, "SELECT count(*) FROM SECOND WHERE missing IS NULL"),
            std::to_string(kRows / 3));
  EXPECT_EQ(Cell(path, "SELECT start || typeof(start) || half FROM FIRST WHERE id = 7"),
            "8text3.5");
  EXPECT_EQ(Cell(path, "SELECT name FROM SECOND ORDER BY rowid LIMIT 1 OFFSET 5"), "n15");
  EXPECT_EQ(Cell(path, "SELECT start FROM FIRST WHERE id = " + std::to_string(kRows)), "NULL");
}

TEST(SqliteWriter, ARowThatIsRefusedFailsTheCommit) {
  const ScratchFolder folder;
  Result<SqliteWriter> writer = SqliteWriter::Create(folder.path() + "/x.db");
  ASSERT_TRUE(writer.ok());
  {
    TableWriter rows = writer->Table("T", "id INTEGER PRIMARY KEY");
    rows.Int(1).EndRow();
    rows.Int(1).EndRow();
  }
  const Status status = writer->Commit();
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("UNIQUE"), std::string::npos) << status.error().message;
  EXPECT_EQ(folder.FileCount(), 0u);  // the file has no name before the commit
}

}  // namespace
}  // namespace steplens::exporting
