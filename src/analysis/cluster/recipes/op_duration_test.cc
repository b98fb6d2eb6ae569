#include "analysis/cluster/recipes/op_duration.h"

#include <gtest/gtest.h>

#include "analysis/cluster/recipes/recipe_testing.h"

namespace steplens::analysis::cluster {
namespace {

TEST(OpDuration, ComparesTheSameOperatorBetweenDevices) {
  StoreBuilder fast;
  StoreBuilder slow;
  fast.store.info.device = 0;
  slow.store.info.device = 3;
  slow.store.info.path = "/data/node2/device_3";
  for (const int64_t begin_ns : {int64_t{1000}, int64_t{100000}}) {
    fast.Kernel("MatMul", "MatMulV2", "AI_CORE", begin_ns, begin_ns + 4000);
    slow.Kernel("MatMul", "MatMulV2", "AI_CORE", begin_ns, begin_ns + 6000 + begin_ns / 50);
    slow.Kernel("Add", "Add", "AI_VECTOR_CORE", begin_ns, begin_ns + 500);
  }
  const Answer answer = AskRecipe(OpDurationRecipe(), {}, {&fast, &slow});
  const table::Table& all = TableOf(answer, "ClusterOpDuration");
  ASSERT_EQ(all.rows(), 3u);
  EXPECT_EQ(Cell(all, "mean(us)", 0), "4");
  EXPECT_EQ(Cell(all, "var(us2)", 0), "0");
  EXPECT_EQ(Cell(all, "Op Name", 2), "MatMul");
  EXPECT_EQ(Cell(all, "device_id", 2), "3");
  EXPECT_EQ(Cell(all, "node_id", 2), "2");
  EXPECT_EQ(Cell(all, "max(us)", 2), "8");
  EXPECT_EQ(Cell(all, "range(us)", 2), "1.98");
  const table::Table& top = TableOf(answer, "ClusterOpDurationTop");
  ASSERT_EQ(top.rows(), 3u);
  EXPECT_EQ(Cell(top, "OpName", 0), "MatMul");
  EXPECT_EQ(Cell(top, "Rank", 1), "1");
  EXPECT_EQ(Cell(top, "OpName", 2), "Add");
}

TEST(OpDuration, ShowsTheCountersOfTheCores) {
  StoreBuilder rank;
  for (int64_t i = 0; i < 3; ++i) rank.Kernel("A", "A", "AI_CORE", 100 * i, 100 * i + 10 + i);
  store::DynamicColumn ratio;
  ratio.name = "aic_mac_ratio";
  store::DynamicColumn cycles;
  cycles.name = "aic_total_cycles";
  for (const double value : {0.5, 0.1, 0.3}) {
    ratio.numbers.Append(value);
    cycles.numbers.Append(value);
  }
  rank.store.kernel_metrics = {ratio, cycles};
  const Answer answer = AskRecipe(OpDurationRecipe(), {}, {&rank});
  const table::Table& counters = TableOf(answer, "ClusterOpCounterTop");
  ASSERT_EQ(counters.rows(), 1u);
  EXPECT_EQ(Cell(counters, "Counter", 0), "aic_mac_ratio");
  EXPECT_EQ(Cell(counters, "Min", 0), "0.1");
  EXPECT_DOUBLE_EQ(counters.Find("Q1")->doubles[0], 0.2);
  EXPECT_EQ(Cell(counters, "Median", 0), "0.3");
  EXPECT_EQ(Cell(counters, "Max", 0), "0.5");
}

TEST(OpDuration, KeepsAsManyOperatorsAsAskedFor) {
  StoreBuilder rank;
  rank.Kernel("A", "A", "AI_CORE", 0, 10);
  rank.Kernel("A", "A", "AI_CORE", 100, 130);
  rank.Kernel("B", "B", "AI_CORE", 200, 210);
  rank.Kernel("B", "B", "AI_CORE", 300, 311);
  Options options;
  options.values["top_num"] = "1";
  const Answer answer = AskRecipe(OpDurationRecipe(), options, {&rank});
  EXPECT_EQ(TableOf(answer, "ClusterOpDurationTop").rows(), 1u);
  EXPECT_EQ(Cell(TableOf(answer, "ClusterOpDurationTop"), "OpName", 0), "A");
}

}  // namespace
}  // namespace steplens::analysis::cluster
