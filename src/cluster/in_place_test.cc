#include "cluster/in_place.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cluster/database.h"
#include "table/sqlite.h"

namespace steplens::cluster {
namespace {

namespace fs = std::filesystem;
using table::CellType;
using table::Table;

class DatabaseCopyTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("steplens_in_place_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    path_ = (folder_ / "a.db").string();
    Table strings("STRING_IDS");
    strings.AddColumn("id", CellType::kInt);
    strings.AddColumn("value", CellType::kText);
    strings.AppendInt(0, 3);
    strings.AppendText(1, "known");
    Table ops("COMMUNICATION_OP");
    ops.AddColumn("startNs", CellType::kInt);
    ops.AddColumn("connectionId", CellType::kInt);
    for (const auto& [start, connection] : {std::pair(10, 1), {10, 2}, {20, 3}}) {
      ops.AppendInt(0, start);
      ops.AppendInt(1, connection);
    }
    const Table tables[] = {strings, ops};
    ASSERT_TRUE(table::WriteSqlite(tables, path_).ok());
  }
  void TearDown() override { fs::remove_all(folder_); }

  size_t CountFiles() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }

  fs::path folder_;
  std::string path_;
};

TEST_F(DatabaseCopyTest, ColumnIsFilledByAllKeysAndAnEmptyKeyFitsAll) {
  Table values("COMMUNICATION_OP");
  values.AddColumn("startNs", CellType::kInt);
  values.AddColumn("connectionId", CellType::kInt);
  values.AddColumn("opConnectionId", CellType::kText);
  for (const auto& [start, connection, id] :
       {std::tuple(int64_t{10}, int64_t{2}, "x"), {int64_t{20}, table::kNull, "y"}}) {
    values.AppendInt(0, start);
    values.AppendInt(1, connection);
    values.AppendText(2, id);
  }
  for (int run = 0; run < 2; ++run) {  // again: the column is there already
    Result<DatabaseCopy> db = DatabaseCopy::Make(path_, path_);
    ASSERT_TRUE(db.ok()) << db.error().message;
    ASSERT_TRUE(db->SetColumn(values).ok());
    ASSERT_TRUE(db->Commit().ok());
    const Result<Table> read = ReadDbTable(path_, "COMMUNICATION_OP");
    EXPECT_EQ(read->Find("opConnectionId")->texts, (std::vector<std::string>{"", "x", "y"}));
  }
  EXPECT_EQ(CountFiles(), 1u);
}

TEST_F(DatabaseCopyTest, NewStringsGetTheNextIds) {
  const std::string target = (folder_ / "b.db").string();
  Result<DatabaseCopy> db = DatabaseCopy::Make(path_, target);
  ASSERT_TRUE(db.ok());
  const Result<std::vector<int64_t>> ids = db->InternStrings({"new", "known", "new"});
  EXPECT_EQ(*ids, (std::vector<int64_t>{4, 3, 4}));
  ASSERT_TRUE(db->Commit().ok());
  EXPECT_EQ(ReadDbTable(path_, "STRING_IDS")->rows(), 1u);  // the original is as it was
  EXPECT_EQ(ReadDbTable(target, "STRING_IDS")->rows(), 2u);
}

TEST_F(DatabaseCopyTest, WhatIsNotCommittedLeavesNothing) {
  {
    Result<DatabaseCopy> db = DatabaseCopy::Make(path_, path_);
    ASSERT_TRUE(db.ok());
    ASSERT_TRUE(db->InternStrings({"new"}).ok());
  }
  EXPECT_EQ(CountFiles(), 1u);
  EXPECT_EQ(ReadDbTable(path_, "STRING_IDS")->rows(), 1u);
}

TEST_F(DatabaseCopyTest, AnOpenDatabaseIsRefused) {
  std::ofstream(path_ + "-wal") << "frames";
  const Result<DatabaseCopy> db = DatabaseCopy::Make(path_, path_);
  ASSERT_FALSE(db.ok());
  EXPECT_NE(db.error().message.find("another program has it open"), std::string::npos);
}

TEST_F(DatabaseCopyTest, AFileThatIsNoDatabaseIsAnError) {
  const std::string path = (folder_ / "text.db").string();
  std::ofstream(path) << std::string(5000, 'x');
  EXPECT_FALSE(DatabaseCopy::Make(path, path).ok());
  EXPECT_FALSE(ReadDbTable(path, "T").ok());
  EXPECT_EQ(CountFiles(), 2u);
}

TEST_F(DatabaseCopyTest, MissingFilesAndTablesAreNamed) {
  EXPECT_EQ(ReadDbTable(path_, "T").error().message, path_ + ": no table T");
  EXPECT_EQ(ReadDbTable("/no/such.db", "T").error().message, "/no/such.db: no such file");
}

TEST(ApplyEdits, RanksWithoutDatabaseAreCounted) {
  analysis::cluster::Answer answer;
  answer.edits.push_back({0, analysis::cluster::RankEdit::Kind::kTable, Table("T")});
  const Export one{"pp_chart", "PPChart", &answer};
  analysis::cluster::RankFacts rank;
  rank.path = "/no/such/folder";
  EditOptions options;
  EXPECT_TRUE(ApplyEdits({&one, 1}, {&rank, 1}, options).notes.empty());  // not asked for
  options.in_place = true;
  EXPECT_EQ(ApplyEdits({&one, 1}, {&rank, 1}, options).notes.at(0),
            "1 rank has no profiler database that could be changed");
}

}  // namespace
}  // namespace steplens::cluster
