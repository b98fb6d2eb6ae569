#include "analysis/cluster/recipes/cluster_time_compare_summary.h"

#include <gtest/gtest.h>

#include "analysis/cluster/recipes/cluster_time_columns.h"

namespace steplens::analysis::cluster {
namespace {

// A ClusterTimeSummary whose times all are `us`, one row a rank.
table::Table Summary(const std::vector<int64_t>& ranks, double us) {
  table::Table table("ClusterTimeSummary");
  table.AddColumn("rank", table::CellType::kInt);
  table.AddColumn("step", table::CellType::kInt);
  for (const TimeColumn& column : kTimeColumns)
    table.AddColumn(column.name, table::CellType::kDouble);
  for (const int64_t rank : ranks) {
    table.AppendInt(0, rank);
    table.AppendInt(1, 10);
    for (size_t i = 0; i < std::size(kTimeColumns); ++i) table.AppendDouble(2 + i, us);
  }
  return table;
}

TEST(CompareTimeSummaries, DiffIsCurrentMinusBase) {
  const Result<Answer> answer = CompareTimeSummaries(Summary({0}, 30), Summary({0}, 10), {});
  const table::Table& table = answer->tables[0].table;
  EXPECT_EQ(table.Find("free")->doubles, (std::vector<double>{30}));
  EXPECT_EQ(table.Find("freeBase")->doubles, (std::vector<double>{10}));
  EXPECT_EQ(table.Find("freeDiff")->doubles, (std::vector<double>{20}));
}

TEST(CompareTimeSummaries, RowsWithoutCounterpartAreLeftOutAndCounted) {
  const Result<Answer> answer = CompareTimeSummaries(Summary({0, 1}, 1), Summary({1, 2}, 1), {});
  EXPECT_EQ(answer->tables[0].table.rows(), 1u);
  EXPECT_EQ(answer->notes.at(0), "1 of 2 rows have no counterpart and are left out");
}

TEST(CompareTimeSummaries, TheStepMustBeInBoth) {
  Options options;
  options.step = 11;
  const Result<Answer> answer = CompareTimeSummaries(Summary({0}, 1), Summary({0}, 1), options);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().message,
            "--step_id: the current ClusterTimeSummary has no step 11; steps are 10");
}

TEST(CompareTimeSummaries, AnotherTableIsAnError) {
  const Result<Answer> answer = CompareTimeSummaries(table::Table("x"), Summary({0}, 1), {});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().message,
            "the current ClusterTimeSummary has no column 'rank' of numbers");
}

}  // namespace
}  // namespace steplens::analysis::cluster
