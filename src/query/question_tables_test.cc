#include "query/question_tables.h"

#include <gmock/gmock.h>

#include <set>

#include "query/testing/ask.h"

namespace steplens::query {
namespace {

using table::CellType;
using testing::HasSubstr;

// One row per call: the rank asked for, or -1, and how often it was computed.
AnalysisTable CallsByRank(int& computed) {
  const auto make = [](int64_t rank, int64_t call) {
    table::Table table("calls");
    table.AppendInt(table.AddColumn("asked", CellType::kInt), rank);
    table.AppendInt(table.AddColumn("call", CellType::kInt), call);
    return table;
  };
  AnalysisTable out;
  out.name = "calls";
  out.args = {{"rank", "INTEGER", "the rank"}, {"kind", "TEXT", "anything"}};
  out.has_fixed_columns = true;
  out.compute = [make](const store::Job&) { return make(-1, 0); };
  out.ask = [make, &computed](const store::Job&,
                              const analysis::QuestionArgs& given) -> Result<table::Table> {
    SL_ASSIGN_OR_RETURN(const int64_t rank, given.IntOr("rank", -1));
    if (rank == 9) return Error{ErrorCode::kNotFound, "there is no rank 9"};
    return make(rank, ++computed);
  };
  return out;
}

TEST(TablesWithArguments, TakeThemAsHiddenColumnsAndInOrder) {
  store::Job job;
  AddRank(job, 0);
  AddRank(job, 3);
  int computed = 0;
  const auto db = Open(job, {CallsByRank(computed)});
  EXPECT_EQ(Ask(*db, "SELECT * FROM calls"), "asked,call\n-1,1\n");
  EXPECT_EQ(Ask(*db, "SELECT * FROM calls WHERE arg_rank = 3"), "asked,call\n3,2\n");
  EXPECT_EQ(Ask(*db, "SELECT * FROM calls(3)"), "asked,call\n3,2\n");  // kept
  EXPECT_EQ(Ask(*db, "SELECT *, arg_kind FROM calls(3, 'x')"), "asked,call,arg_kind\n3,3,x\n");
  EXPECT_EQ(Ask(*db, "SELECT r.rank, c.asked FROM calls c JOIN ranks r ON c.arg_rank = r.rank"),
            "rank,asked\n0,0\n3,3\n");
  EXPECT_EQ(Ask(*db, "SELECT asked FROM calls(NULL)"), "asked\n-1\n");
  EXPECT_EQ(Ask(*db, "SELECT asked FROM calls(3) WHERE asked > 3"), "asked\n");
}

TEST(TablesWithArguments, SayWhatIsWrongWithAnArgument) {
  const store::Job job;
  int computed = 0;
  const auto db = Open(job, {CallsByRank(computed)});
  EXPECT_EQ(Ask(*db, "SELECT * FROM calls(9)"), "calls: there is no rank 9");
  EXPECT_EQ(Ask(*db, "SELECT * FROM calls('x')"), "calls: argument 'rank' is not a whole number");
  EXPECT_THAT(db->Schema(), HasSubstr("CREATE TABLE calls (\n  asked INTEGER,\n  call INTEGER\n);\n"
                                      "-- argument arg_rank INTEGER: the rank\n"));
  EXPECT_EQ(computed, 0);
}

TEST(QuestionTables, EachCanBeRead) {
  store::Job job;
  AddRank(job, 0);
  const std::vector<AnalysisTable> tables = QuestionTables();
  const auto db = Open(job, tables);
  std::set<std::string> names;
  for (const AnalysisTable& table : tables) {
    EXPECT_TRUE(names.insert(table.name).second) << table.name;
    const auto result = db->Run("SELECT * FROM " + table.name);
    EXPECT_TRUE(result.ok()) << table.name << ": " << result.error().message;
  }
  for (const char* name : {"breakdown", "verify", "overall", "overview_steps", "findings"})
    EXPECT_TRUE(names.contains(name)) << name;
}

}  // namespace
}  // namespace steplens::query
