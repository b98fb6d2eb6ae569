// The Summary, Pipeline and Expert pages on hand-made captures.
#include "analysis/viewer/test_metric.h"

namespace steplens::analysis::viewer {
namespace {

store::Job StepTables() {
  TestRank a(0);
  TestRank b(1);
  for (TestRank* rank : {&a, &b}) {
    const double extra = rank == &b ? 40 : 0;
    for (const int64_t step : {1, 2}) {
      rank->store.step_traces.Append({.step = step,
                                      .computing_us = 100 + extra,
                                      .comm_not_overlapped_us = 50,
                                      .overlapped_us = 20,
                                      .communication_us = 70,
                                      .free_us = 30,
                                      .stage_us = 180 + extra,
                                      .bubble_us = 0,
                                      .comm_exclude_receive_us = 50,
                                      .preparing_us = step == 1 ? -5.0 : 20.0});
    }
  }
  return JobOf(a, b);
}

TEST(SummaryRanks, TotalIsTheSumOfItsParts) {
  MetricArgs args;
  args.values.emplace("step", int64_t{2});
  const table::Table table = TableOf(StepTables(), "summary_ranks", "ranks", args);
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(Cell(table, "Total(us)", 0), 200);
  EXPECT_EQ(Cell(table, "Computing Ratio(%)", 0), 50);
  EXPECT_EQ(Cell(table, "Communication Ratio(%)", 0), 35);
  EXPECT_EQ(Cell(table, "Computing(Not Overlapped)(us)", 0), 80);
}

TEST(SummaryRanks, AllStepsAreAddedAndNegativePreparingIsNone) {
  const table::Table table = TableOf(StepTables(), "summary_ranks", "ranks");
  EXPECT_EQ(Cell(table, "Preparing(us)", 0), 20);
  EXPECT_EQ(Cell(table, "Total(us)", 0), 380);
}

TEST(MemoryOperators, ListsWhatIsHeldAtAMoment) {
  TestRank a(0);
  TestRank b(1);
  a.store.allocations.Append(
      {.name = a.Text("short"), .size_bytes = 10, .alloc_ns = 100, .release_ns = 200});
  a.store.allocations.Append({.name = a.Text("kept"), .size_bytes = 4, .alloc_ns = 150});
  const store::Job job = JobOf(a, b);
  const auto held = [&](int64_t at_ns) {
    MetricArgs args;
    args.values = {{"rank", int64_t{0}}, {"live_at", at_ns}, {"origin_ns", int64_t{50}}};
    return TableOf(job, "memory_operators", "memory_operators", args).Find("Name")->texts;
  };
  EXPECT_EQ(held(49), std::vector<std::string>{});
  EXPECT_EQ(held(50), std::vector<std::string>{"short"});
  EXPECT_EQ(held(149), (std::vector<std::string>{"short", "kept"}));
  EXPECT_EQ(held(150), std::vector<std::string>{"kept"});
}

TEST(SummaryAdvice, NamesTimesThatDifferTooMuch) {
  const table::Table table = TableOf(StepTables(), "summary_advice", "differences");
  ASSERT_EQ(table.rows(), 3u);
  EXPECT_EQ(Cell(table, "Difference(us)", 0), 80);
  EXPECT_EQ(table.Find("Result")->texts[0], "Issue");
  EXPECT_EQ(table.Find("Result")->texts[2], "OK");
}

TEST(SummaryArrangement, FoldsRanksIntoElements) {
  MetricArgs args;
  args.values = {{"tp", int64_t{2}}, {"dimension", std::string("DP+PP")}};
  const table::Table table = TableOf(StepTables(), "summary_arrangement", "elements", args);
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(table.Find("name")->texts[0], "dp0-pp0");
  EXPECT_EQ(table.Find("ranks")->texts[0], "0,1");
  EXPECT_EQ(Cell(table, "Computing max(us)", 0), 280);
  EXPECT_EQ(Cell(table, "Computing range(us)", 0), 80);
}

// Two micro batches of two layers: forward 1, 2, backward 2, 1, and again.
TEST(Pipeline, BatchesEndWhereTheOrderTurns) {
  TestRank rank;
  const store::TrackId back = rank.ThreadOf("Python", "Thread 2");
  for (const int64_t start : {0, 1000}) {
    for (const int64_t layer : {0, 1}) {
      const int64_t forward_ns = start + 100 * layer;
      const int64_t backward_ns = start + 500 - 100 * layer;
      rank.Slice(rank.host, forward_ns, forward_ns + 50, "aten::linear", "cpu_op");
      rank.Slice(back, backward_ns, backward_ns + 50, "LinearBackward", "cpu_op");
      rank.Flow("fwdbwd", rank.host, forward_ns, back, backward_ns);
    }
  }
  const table::Table blocks = TableOf(JobOf(rank), "pipeline", "blocks");
  ASSERT_EQ(blocks.rows(), 4u);
  EXPECT_EQ(blocks.Find("name")->texts, (std::vector<std::string>{"FP0", "BP0", "FP1", "BP1"}));
  EXPECT_EQ(blocks.Find("start_ns")->ints, (std::vector<int64_t>{0, 400, 1000, 1400}));
  EXPECT_EQ(blocks.Find("end_ns")->ints, (std::vector<int64_t>{150, 550, 1150, 1550}));
}

TEST(Expert, FindsWhatItKnows) {
  TestRank rank;
  rank.Kernel("k1", "NonZero", "AI_CPU", 0, 100);
  rank.Kernel("k2", "Add", "AI_CPU", 100, 30100);
  rank.Slice(rank.host, 0, 10, "aten::softmax", "cpu_op");
  rank.Slice(rank.host, 10, 20, "aten::add", "cpu_op");
  rank.Slice(rank.host, 30, 40, "Optimizer.step#AdamW.step");
  for (int64_t i = 0; i < 20; ++i) rank.Slice(rank.stream, i * 10, i * 10 + 5, "aclnnMul");
  for (const char* type : {"Cast", "LayerNorm", "Cast"}) {
    const auto n = static_cast<int64_t>(rank.store.kernels.size()) * 1000000;
    rank.Kernel("k", type, "AI_VECTOR_CORE", n, n + 10);
  }
  const store::Job job = JobOf(rank);
  EXPECT_EQ(TableOf(job, "expert", "aicpu").rows(), 2u);
  const table::Table api = TableOf(job, "expert", "affinity_api");
  ASSERT_EQ(api.rows(), 1u);
  EXPECT_EQ(api.Find("Replace API")->texts[0], "torch_npu.npu_scaled_masked_softmax");
  EXPECT_EQ(TableOf(job, "expert", "affinity_optimizer").Find("Replace API")->texts.at(0),
            "torch_npu.optim.NpuFusedAdamW");
  EXPECT_EQ(TableOf(job, "expert", "aclnn").rows(), 20u);
  const table::Table fusion = TableOf(job, "expert", "fusion");
  ASSERT_EQ(fusion.rows(), 1u);
  EXPECT_EQ(fusion.Find("Fused Operator")->texts[0], "LayerNorm");
}

}  // namespace
}  // namespace steplens::analysis::viewer
