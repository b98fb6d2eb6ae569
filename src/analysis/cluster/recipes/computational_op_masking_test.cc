#include "analysis/cluster/recipes/recipe_testing.h"
#include "analysis/cluster/recipes/recipes.h"

namespace steplens::analysis::cluster {
namespace {

constexpr std::string_view kTable = "ComputationalOperatorMaskingLinearity";

// A step of 100 ns, a dp operator that begins before it and a kernel that covers a part.
StoreBuilder MakeRank() {
  StoreBuilder rank;
  rank.Step(5, 100, 200);
  rank.store.comm_ops.Append({.name = rank.Text("hcom_allReduce__1_0_1"),
                              .group_name = rank.Text("g"),
                              .begin_ns = 80,
                              .dur_ns = 60});
  rank.Kernel("mm", "MatMulV2", "AI_CORE", 110, 120);
  rank.store.meta.Append({.name = rank.Text("parallel_group_info"),
                          .value = rank.Text(R"({"g": {"group_name": "dp"}})")});
  return rank;
}

TEST(ComputationalOpMasking, ClipsToTheStepAndNamesTheRank) {
  StoreBuilder rank = MakeRank();
  const Answer answer = AskRecipe(ComputationalOpMaskingRecipe(), {}, {&rank});
  const table::Table& table = TableOf(answer, kTable);
  ASSERT_EQ(table.rows(), 2u);  // dp+edp and dp
  EXPECT_EQ(Cell(table, "rank", 0), "0");
  EXPECT_EQ(Cell(table, "parallelType", 0), "dp+edp");
  EXPECT_EQ(Cell(table, "totalCommunicationOperatorTime", 0), "40");
  EXPECT_EQ(Cell(table, "totalTimeWithoutCommunicationBlackout", 0), "30");
  EXPECT_EQ(table.Find("ratioOfUnmaskedCommunication")->doubles[0], 0.3);
}

TEST(ComputationalOpMasking, CompatCountsOperatorsInFull) {
  StoreBuilder rank = MakeRank();
  Options compat;
  compat.compat = true;
  const Answer answer = AskRecipe(ComputationalOpMaskingRecipe(), compat, {&rank});
  const table::Table& table = TableOf(answer, kTable);
  EXPECT_EQ(Cell(table, "totalCommunicationOperatorTime", 0), "60");
  EXPECT_EQ(Cell(table, "totalTimeWithoutCommunicationBlackout", 0), "50");
  EXPECT_EQ(table.Find("rank"), nullptr);
  compat.step = 5;  // then only what lies inside the step counts
  EXPECT_EQ(TableOf(AskRecipe(ComputationalOpMaskingRecipe(), compat, {&rank}), kTable).rows(), 0u);
}

TEST(ComputationalOpMasking, FindsTheGroupOfATextTraceByTheOperator) {
  StoreBuilder rank = MakeRank();
  rank.store.comm_ops.group_name.Set(0, rank.Text("0"));  // the trace's own number
  rank.store.comm_times.Append(
      {.op_name = rank.Text("hcom_allReduce__1_0_1"), .group_name = rank.Text("g")});
  const Answer answer = AskRecipe(ComputationalOpMaskingRecipe(), {}, {&rank});
  EXPECT_EQ(TableOf(answer, kTable).rows(), 2u);
}

TEST(ComputationalOpMasking, RefusesEmptyNames) {
  for (const char* types : {"dp;;tp", "dp,", ";"}) {
    Options options;
    options.values["parallel_types"] = types;
    const auto recipe = ComputationalOpMaskingRecipe().make(options);
    ASSERT_FALSE(recipe.ok()) << types;
    EXPECT_EQ(recipe.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(recipe.error().message.find("has an empty name"), std::string::npos);
  }
}

TEST(ComputationalOpMasking, SaysWhatIsMissing) {
  StoreBuilder rank;
  EXPECT_EQ(AskRecipe(ComputationalOpMaskingRecipe(), {}, {&rank}).notes.size(), 2u);
}

}  // namespace
}  // namespace steplens::analysis::cluster
