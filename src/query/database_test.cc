#include "query/database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "base/cancel.h"
#include "query/testing/ask.h"

namespace steplens::query {
namespace {

using table::CellType;
using ::testing::HasSubstr;

ErrorCode CodeOf(const store::Job& job, std::string_view sql) {
  const auto result = Open(job)->Run(sql);
  EXPECT_FALSE(result.ok()) << sql;
  return result.ok() ? ErrorCode::kInternal : result.error().code;
}

void AddSlice(store::TraceStore& store, int64_t begin_ns, int64_t dur_ns, std::string_view name) {
  if (store.tracks.size() == 0) store.tracks.Append({});
  store::SliceTable::Row row;
  row.track = store::TrackId{0};
  row.begin_ns = begin_ns;
  row.dur_ns = dur_ns;
  row.name = store.strings.Intern(name);
  store.slices.Append(row);
}

void AddKernel(store::TraceStore& store) {
  store::KernelTable::Row row;
  row.begin_ns = 0;
  row.dur_ns = 1;
  store.kernels.Append(row);
}

store::DynamicColumn Numbers(std::string name, std::vector<double> values) {
  store::DynamicColumn column;
  column.name = std::move(name);
  for (const double value : values) column.numbers.Append(value);
  return column;
}

store::DynamicColumn Texts(store::TraceStore& store, std::string name,
                           std::vector<std::string> values) {
  store::DynamicColumn column;
  column.name = std::move(name);
  for (const std::string& value : values) column.texts.Append(store.strings.Intern(value));
  return column;
}

// Outer [0, 100) with inner [10, 30) and an arrow from the inner slice to the outer one.
store::Job NestedJob() {
  store::Job job;
  store::TraceStore& store = AddRank(job, 0);
  AddSlice(store, 0, 100, "outer");
  AddSlice(store, 10, 20, "inner");
  store::FlowTable::Row flow;
  flow.from_track = flow.to_track = store::TrackId{0};
  flow.from_ns = 10;
  flow.to_ns = 0;
  store.flows.Append(flow);
  return job;
}

TEST(Database, ShowsSlicesOfAllRanks) {
  store::Job job;
  AddSlice(AddRank(job, 0), 5, 2, "a");
  AddSlice(AddRank(job, 3), 7, 1, "b");
  EXPECT_EQ(Ask(job, "SELECT * FROM slices"),
            "id,rank,track_id,begin_ns,dur_ns,name,category,depth,parent_id,correlation,"
            "args_offset,args_size\n"
            "0,0,0,5,2,a,,0,,,,0\n"
            "0,3,0,7,1,b,,0,,,,0\n");
  EXPECT_EQ(Ask(job, "SELECT rank, count(*) n, sum(dur_ns) total FROM slices GROUP BY rank"),
            "rank,n,total\n0,1,2\n3,1,1\n");
}

TEST(Database, DerivesNestingAndFlowEnds) {
  const store::Job job = NestedJob();
  EXPECT_EQ(Ask(job, "SELECT name, depth, parent_id FROM slices"),
            "name,depth,parent_id\nouter,0,\ninner,1,0\n");
  EXPECT_EQ(Ask(job, "SELECT name FROM slices WHERE depth = 1 AND parent_id = 0"), "name\ninner\n");
  EXPECT_EQ(Ask(job, "SELECT from_slice_id, to_slice_id FROM flows"),
            "from_slice_id,to_slice_id\n1,0\n");
}

TEST(Database, UnknownValuesAreNullAndEmptyTextsAreNot) {
  store::Job job;
  store::TraceStore& store = AddRank(job, 0);
  store.comm_times.Append({});
  store.tracks.Append({});
  EXPECT_EQ(
      Ask(job, "SELECT step = '' AS empty_text, elapse_ms IS NULL AS no_double FROM comm_times"),
      "empty_text,no_double\n1,1\n");
  EXPECT_EQ(Ask(job, "SELECT parent_id IS NULL AS a, sort_index IS NULL AS b FROM tracks"),
            "a,b\n1,1\n");
}

TEST(Database, ListsRanks) {
  store::Job job;
  store::TraceStore& store = AddRank(job, 4);
  store.info.source = store::Source::kKineto;
  store.info.format = store::Format::kJson;
  store.info.path = "a/b.json";
  AddSlice(store, 5, 2, "a");
  EXPECT_EQ(Ask(job, "SELECT * FROM ranks WHERE rank = 4"),
            "rank,source,format,level,device,path,begin_ns,end_ns,slices,kernels\n"
            "4,kineto,json,,,a/b.json,5,7,1,0\n");
}

TEST(Database, MergesMetricColumnsOfAllRanks) {
  store::Job job;
  store::TraceStore& first = AddRank(job, 0);
  AddKernel(first);
  first.kernel_metrics.push_back(Numbers("mac_ratio", {0.5}));
  first.kernel_metrics.push_back(Numbers("Name", {1}));
  store::TraceStore& second = AddRank(job, 1);
  AddKernel(second);
  second.kernel_metrics.push_back(Numbers("vec time(us)", {2.25}));
  second.kernel_metrics.push_back(Texts(second, "mac_ratio", {"N/A"}));
  EXPECT_EQ(Ask(job, R"x(SELECT rank, mac_ratio, "vec time(us)", Name_2 FROM kernels)x"),
            "rank,mac_ratio,vec time(us),Name_2\n0,0.5,,1\n1,N/A,2.25,\n");
}

TEST(Database, ShowsSheetsUnderTheirNames) {
  store::Job job;
  store::TraceStore& store = AddRank(job, 0);
  store.sheets.push_back(
      {"l2_cache", {Numbers("rank", {7, 8}), Texts(store, "Op \"Name\"", {"x", "y"})}});
  store.sheets.push_back({"Slices", {Numbers("n", {1})}});
  AddRank(job, 1).sheets.push_back({"l2_cache", {Numbers("hit", {0.5})}});
  EXPECT_EQ(Ask(job, "SELECT * FROM l2_cache"),
            "id,rank,rank_2,\"Op \"\"Name\"\"\",hit\n0,0,7,x,\n1,0,8,y,\n0,1,,,0.5\n");
  EXPECT_EQ(Ask(job, R"(SELECT id FROM l2_cache WHERE "Op ""Name""" = 'y')"), "id\n1\n");
  EXPECT_EQ(Ask(job, "SELECT n FROM slices_2"), "n\n1\n");
}

TEST(Database, ASheetMayHaveAnyColumns) {
  store::Job job;
  store::DynamicTable sheet{"odd", {Numbers("", {1}), Numbers(std::string("a\0b", 3), {2})}};
  for (int i = 0; i < 3000; ++i) sheet.columns.push_back(Numbers("c" + std::to_string(i), {3}));
  sheet.columns.push_back(Numbers("short", {}));
  AddRank(job, 0).sheets.push_back(std::move(sheet));
  EXPECT_EQ(Ask(job, R"(SELECT "column", "a b", c1995 FROM odd)"), "column,a b,c1995\n1,2,3\n");
}

TEST(Database, AnEmptyJobHasEmptyTables) {
  EXPECT_EQ(Ask(store::Job(), "SELECT count(*) AS n FROM slices"), "n\n0\n");
  EXPECT_EQ(Ask(store::Job(), "SELECT count(*) AS n FROM ranks"), "n\n0\n");
}

TEST(Database, ComputesAnAnalysisOnceAndOnlyWhenNamed) {
  int computed = 0;
  const auto compute = [&](const store::Job& job) {
    ++computed;
    table::Table table("overlap");
    table.AppendText(table.AddColumn("Kind", CellType::kText), "计算");
    table.AppendInt(table.AddColumn("Duration(us)", CellType::kTimeUs), 1500);
    table.AppendInt(table.AddColumn("Ranks", CellType::kInt),
                    static_cast<int64_t>(job.ranks.size()));
    table.AppendDouble(table.AddColumn("Ratio(%)", CellType::kDouble), std::nan(""));
    table.AppendText(table.AddColumn("OP Type", CellType::kText), "");
    return table;
  };
  const store::Job job = NestedJob();
  const auto db = Open(job, {{"overlap", compute, "How device time divides."}});
  Ask(*db, "SELECT 1 FROM slices");
  EXPECT_EQ(computed, 0);
  EXPECT_EQ(Ask(*db, "SELECT * FROM overlap"),
            "kind,duration_ns,ranks,ratio_percent,op_type\n计算,1500,1,,\n");
  EXPECT_EQ(Ask(*db, "SELECT Kind FROM overlap WHERE duration_ns > 1000"), "kind\n计算\n");
  EXPECT_THAT(db->Schema(),
              HasSubstr("-- How device time divides.\n"
                        "CREATE TABLE overlap (\n  kind TEXT,\n  duration_ns INTEGER"));
  EXPECT_EQ(computed, 1);
}

TEST(Database, KernelsKnowTheirStepsWhereTheInputDoesNotSayThem) {
  store::Job job;
  store::TraceStore& silent = AddRank(job, 0);
  silent.steps.Append({.step = 7, .begin_ns = 0, .end_ns = 100});
  silent.steps.Append({.step = 8, .begin_ns = 100, .end_ns = 200});
  for (const int64_t begin_ns : {10, 110, 500})
    silent.kernels.Append({.name = silent.strings.Intern("k"), .begin_ns = begin_ns, .dur_ns = 5});
  store::TraceStore& saying = AddRank(job, 1);
  saying.kernels.Append(
      {.step = 3, .device = 4, .name = saying.strings.Intern("k"), .begin_ns = 10, .dur_ns = 5});
  const auto db = Open(job);
  EXPECT_EQ(Ask(*db, "SELECT rank, step, device, begin_ns FROM kernels ORDER BY rank, begin_ns"),
            "rank,step,device,begin_ns\n0,7,,10\n0,8,,110\n0,,,500\n1,3,4,10\n");
  EXPECT_EQ(Ask(*db, "SELECT begin_ns FROM kernels WHERE step = 8"), "begin_ns\n110\n");
}

TEST(Database, KernelsJoinTheSlicesThatShowThem) {
  store::Job job;
  store::TraceStore& store = AddRank(job, 0);
  AddSlice(store, 10, 5, "EVENT_WAIT");
  store.tracks.Append({.name = store.strings.Intern("Ascend Hardware")});
  store.tracks.parent.Set(0, store::TrackId{1});
  AddSlice(store, 20, 5, "Add");
  for (const char* name : {"Add", "Mul"})
    store.kernels.Append({.name = store.strings.Intern(name), .begin_ns = 20, .dur_ns = 5});
  const auto db = Open(job);
  EXPECT_EQ(Ask(*db, "SELECT name, slice_id FROM kernels"), "name,slice_id\nAdd,1\nMul,\n");
  EXPECT_EQ(Ask(*db,
                "SELECT k.name, s.begin_ns FROM kernels k JOIN slices s "
                "ON s.rank = k.rank AND s.id = k.slice_id"),
            "name,begin_ns\nAdd,20\n");
}

TEST(Database, SchemaOfFixedColumnsNeedsNoWork) {
  size_t ranks_seen = 0;
  const auto compute = [&](const store::Job& job) {
    ranks_seen += job.ranks.size();
    table::Table table("overlap");
    table.AddColumn("Rank", CellType::kInt);
    return table;
  };
  const store::Job job = NestedJob();
  const auto db = Open(job, {{"overlap", compute, "", /*has_fixed_columns=*/true}});
  EXPECT_THAT(db->Schema(), HasSubstr("CREATE TABLE overlap (\n  rank INTEGER\n);\n"));
  EXPECT_EQ(ranks_seen, 0u);
  EXPECT_EQ(Ask(*db, "SELECT count(rank) AS n FROM overlap"), "n\n0\n");
  EXPECT_EQ(ranks_seen, 1u);
}

TEST(Database, ListsItsTablesInSqliteMasterWithoutComputingThem) {
  bool computed = false;
  const auto compute = [&](const store::Job&) {
    computed = true;
    table::Table table("overlap");
    table.AddColumn("Rank", CellType::kInt);
    return table;
  };
  const store::Job job = NestedJob();
  const auto db = Open(job, {{"overlap", compute, ""}});
  EXPECT_EQ(Ask(*db,
                "SELECT type, name FROM sqlite_master WHERE name IN ('slices', 'overlap') "
                "ORDER BY name"),
            "type,name\ntable,overlap\ntable,slices\n");
  EXPECT_FALSE(computed);
  EXPECT_EQ(Ask(*db, "SELECT count(*) AS n FROM overlap"), "n\n0\n");
  EXPECT_EQ(CodeOf(job, "DELETE FROM sqlite_master"), ErrorCode::kInvalidArgument);
}

TEST(Database, RefusesParametersWithoutAValue) {
  const store::Job job = NestedJob();
  EXPECT_EQ(Ask(job, "SELECT * FROM slices WHERE rank = ?"),
            "the query has a parameter, '?', and nothing gives it a value: write the value");
  EXPECT_THAT(Ask(job, "SELECT :x"), HasSubstr("':x'"));
}

TEST(Database, RefusesAnAnalysisWithTheNameOfATable) {
  const store::Job job;
  const auto compute = [](const store::Job&) { return table::Table("x"); };
  const auto opened = Database::Open(job, {{"Slices", compute}});
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().message, "the analysis 'Slices' has the name of another table");
}

TEST(Database, InfersResultTypes) {
  const store::Job job;
  const auto result = Open(job)->Run(
      "SELECT 1 AS i, 1 AS d, 1 AS t, NULL AS n, 1736412474714493391 AS ns, 0.5 AS dt "
      "UNION ALL SELECT NULL, 0.5, 'x', NULL, 2, 'y'");
  ASSERT_TRUE(result.ok());
  const auto type = [&](size_t i) { return result->columns()[i].type; };
  EXPECT_EQ(type(0), CellType::kInt);
  EXPECT_EQ(type(1), CellType::kDouble);
  EXPECT_EQ(type(2), CellType::kText);
  EXPECT_EQ(type(3), CellType::kInt);
  EXPECT_EQ(table::ToCsv(*result), "i,d,t,n,ns,dt\n1,1,1,,1736412474714493391,0.5\n,0.5,x,,2,y\n");
}

TEST(Database, NumbersResultColumnsWithEqualNames) {
  EXPECT_EQ(Ask(store::Job(), "SELECT 1 AS a, 2 AS A, 3 AS a"), "a,A_2,a_3\n1,2,3\n");
}

TEST(Database, KeepsAnyTextAsItIs) {
  const std::string texts[] = {"it's \"x\"", "矩阵乘", std::string("a\0b", 3), "\xff\xfe", ""};
  store::Job job;
  store::TraceStore& store = AddRank(job, 0);
  for (const std::string& text : texts) AddSlice(store, 0, 0, text);
  const auto all = Open(job)->Run("SELECT name FROM slices");
  ASSERT_TRUE(all.ok());
  EXPECT_THAT(all->columns()[0].texts, ::testing::ElementsAreArray(texts));
  EXPECT_EQ(Ask(job, "SELECT id FROM slices WHERE name = 'it''s \"x\"'"), "id\n0\n");
  EXPECT_EQ(Ask(job, "SELECT id FROM slices WHERE name = '矩阵乘'"), "id\n1\n");
  EXPECT_EQ(Ask(job, "SELECT id FROM slices WHERE name = 'a' || char(0) || 'b'"), "id\n2\n");
  EXPECT_EQ(Ask(job, "SELECT id FROM slices WHERE name = CAST(x'fffe' AS TEXT)"), "id\n3\n");
  EXPECT_EQ(Ask(job, "SELECT id FROM slices WHERE name = ''"), "id\n4\n");
  EXPECT_EQ(Ask(job, "SELECT id FROM slices WHERE name = 'IT''S \"X\"' COLLATE NOCASE"), "id\n0\n");
}

TEST(Database, SaysWhichTablesAndColumnsThereAre) {
  const store::Job job;
  EXPECT_THAT(Ask(job, "SELECT * FROM slice"),
              HasSubstr("no such table: slice; did you mean 'slices'?\ntables: ranks, tracks, "));
  EXPECT_EQ(Ask(job, "SELECT s.start FROM Steps s"),
            "no such column: s.start\ncolumns of steps: id, rank, step, begin_ns, end_ns");
  EXPECT_EQ(Ask(job, "SELECT \"begin\" FROM steps"),
            "no such column: begin; did you mean 'begin_ns'?\n"
            "columns of steps: id, rank, step, begin_ns, end_ns");
  EXPECT_EQ(CodeOf(job, "SELECT * FROM slice"), ErrorCode::kNotFound);
  EXPECT_EQ(Ask(job, "SELECT * FORM steps"),
            "near \"FORM\": syntax error (at byte 10 of the query)");
}

// Notes what it is given; refuses rows after the first `limit`.
class Notebook : public RowSink {
 public:
  explicit Notebook(size_t limit = SIZE_MAX) : limit_(limit) {}
  Status Begin(const std::vector<std::string>& names) override {
    for (const std::string& name : names) text += name + "|";
    return {};
  }
  Status Row(std::span<const Cell> cells) override {
    if (rows++ == limit_) return Error{ErrorCode::kIo, "full"};
    text += "\n";
    for (const Cell& cell : cells) {
      if (cell.kind == Cell::Kind::kInt) text += std::to_string(cell.integer);
      if (cell.kind == Cell::Kind::kDouble) text += "d" + std::to_string(cell.real);
      if (cell.kind == Cell::Kind::kText) text += cell.text;
      text += "|";
    }
    return {};
  }
  std::string text;
  size_t rows = 0;

 private:
  size_t limit_;
};

TEST(Database, StreamsRowsWithTheTypeOfEachCell) {
  const store::Job job;
  Notebook notes;
  const Status status =
      Open(job)->Stream("SELECT 1 AS a, 2.5 AS a UNION ALL SELECT 'x', NULL", notes, {});
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(notes.text, "a|a_2|\n1|d2.500000|\nx||");
}

TEST(Database, StreamsWithoutEndUntilTheReaderHasEnough) {
  const char* endless =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
      "SELECT i FROM n";
  const store::Job job;
  const auto db = Open(job);
  Notebook full(1000);
  const Status refused = db->Stream(endless, full, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "full");
  EXPECT_EQ(full.rows, 1001u);
  Notebook limited;
  EXPECT_TRUE(db->Stream(endless, limited, {.max_rows = 2}).ok());
  EXPECT_EQ(limited.text, "i|\n1|\n2|");
  Notebook stopped;
  const Status cancelled =
      db->Stream(endless, stopped, {.should_stop = [&] { return stopped.rows > 10; }});
  ASSERT_FALSE(cancelled.ok());
  EXPECT_EQ(cancelled.error().code, ErrorCode::kCancelled);
}

TEST(Database, StreamsNothingOfAStatementThatFails) {
  const store::Job job;
  Notebook notes;
  EXPECT_FALSE(Open(job)->Stream("SELECT json_extract('{', '$')", notes, {}).ok());
  EXPECT_FALSE(Open(job)->Stream("SELECT * FROM absent", notes, {}).ok());
  EXPECT_EQ(notes.text, "");
}

TEST(Database, LetsQueriesOnlyRead) {
  const store::Job job = NestedJob();
  const auto db = Open(job);
  for (const char* sql : {"DELETE FROM slices",
                          "INSERT INTO slices(id) VALUES (1)",
                          "UPDATE slices SET id = 1",
                          "CREATE TABLE t(x)",
                          "CREATE TEMP TABLE t(x)",
                          "CREATE VIEW v AS SELECT 1",
                          "CREATE VIRTUAL TABLE f USING fts5(x)",
                          "DROP TABLE slices",
                          "ATTACH '/tmp/x.db' AS x",
                          "DETACH main",
                          "PRAGMA journal_mode = WAL",
                          "PRAGMA writable_schema = 1",
                          "VACUUM",
                          "VACUUM INTO '/tmp/x.db'",
                          "BEGIN",
                          "SAVEPOINT s",
                          "ANALYZE",
                          "REINDEX",
                          "SELECT load_extension('x')",
                          "SELECT fts3_tokenizer('simple', x'00')",
                          "WITH x AS (SELECT 1) DELETE FROM slices",
                          "EXPLAIN DELETE FROM slices"}) {
    const auto result = db->Run(sql);
    ASSERT_FALSE(result.ok()) << sql;
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument) << sql;
  }
  EXPECT_EQ(Ask(*db, "DELETE FROM slices"), "table slices may not be modified");
  EXPECT_EQ(Ask(*db, "CREATE TABLE t(x)"),
            "a query can only read: use SELECT (no writes, ATTACH or settings)");
  EXPECT_EQ(Ask(*db, "SELECT count(*) AS n FROM slices"), "n\n2\n");
}

TEST(Database, PragmaTableInfoIsAllowed) {
  const auto result = Open(store::Job())->Run("SELECT name, type FROM pragma_table_info('steps')");
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(table::ToCsv(*result),
            "name,type\nid,INTEGER\nrank,INTEGER\nstep,INTEGER\nbegin_ns,INTEGER\n"
            "end_ns,INTEGER\n");
}

TEST(Database, ReadsJsonWithTableFunctions) {
  EXPECT_EQ(Ask(store::Job(), "SELECT value FROM json_each('[3, 4]')"), "value\n3\n4\n");
}

TEST(Database, RunsOneStatementOnly) {
  const store::Job job;
  EXPECT_EQ(Ask(job, "SELECT 1 AS x; -- done\n ; "), "x\n1\n");
  const std::string more = "only one statement can be run; there is more after the first ';'";
  EXPECT_EQ(Ask(job, "SELECT 1; SELECT 2"), more);
  EXPECT_EQ(Ask(job, "SELECT 1; nonsense"), more);
  EXPECT_EQ(Ask(job, ""), "the query is empty");
  EXPECT_EQ(Ask(job, " /* nothing */ "), "the query is empty");
  EXPECT_EQ(Ask(job, std::string_view("SELECT 1\0; SELECT 2", 19)), "the query holds a NUL byte");
}

TEST(Database, RefusesWhatIsTooLarge) {
  const store::Job job;
  const auto db = Open(job);
  EXPECT_EQ(Ask(*db, "SELECT 1 --" + std::string(10'000'000, 'x')), "statement too long");
  std::string deep = "1";
  for (int i = 0; i < 100'000; ++i) deep += "+1";
  EXPECT_THAT(Ask(*db, "SELECT " + deep), HasSubstr("Expression tree is too large"));
  std::string compound = "SELECT 1";
  for (int i = 0; i < 1000; ++i) compound += " UNION ALL SELECT 1";
  EXPECT_THAT(Ask(*db, compound), HasSubstr("too many terms in compound SELECT"));
  EXPECT_FALSE(db->Run("SELECT zeroblob(1000000000)").ok());
  const auto endless = db->Run(
      "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c", 1 << 20);
  ASSERT_FALSE(endless.ok());
  EXPECT_EQ(endless.error().message, "the result is larger than 1 MiB: add a LIMIT or aggregate");
}

TEST(Database, StopsWhenCancelled) {
  const store::Job job;
  const auto db = Open(job);
  std::jthread canceller([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    RequestCancel();
  });
  const auto result = db->Run(
      "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c");
  canceller.join();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kCancelled);
  EXPECT_FALSE(db->Run("SELECT 1").ok());
  ClearCancel();
  EXPECT_EQ(Ask(*db, "SELECT 1 AS x"), "x\n1\n");
}

TEST(Database, SchemaDescribesEveryColumn) {
  store::Job job;
  store::TraceStore& store = AddRank(job, 0);
  store.kernel_metrics.push_back(Numbers("mac time(us)", {}));
  const std::string schema = Open(job)->Schema();
  EXPECT_THAT(schema,
              HasSubstr("-- Training steps as the host marked them, or the device (iterations of a "
                        "whole graph).\n"
                        "CREATE TABLE steps (\n"
                        "  id INTEGER,                      -- row number within its rank\n"));
  EXPECT_THAT(schema, HasSubstr("  end_ns INTEGER                   -- host end\n);\n"));
  EXPECT_THAT(schema, HasSubstr("  \"mac time(us)\" REAL\n);\n"));
}

}  // namespace
}  // namespace steplens::query
