#include "analysis/parallel/pipeline_stages.h"

#include "analysis/viewer/test_metric.h"

namespace steplens::analysis::viewer {
namespace {

// Two stages, two micro batches; forward takes 10, backward 20. Stage 1 waits for its first input.
//   rank 4  F0 0-10  F1 10-20           B0 50-70  B1 90-110
//   rank 5           F0 20-30  B0 30-50  F1 60-70  B1 70-90
std::vector<Pass> TwoStages() {
  return {{4, "F0", true, 0, 10},    {4, "F1", true, 10, 20}, {4, "B0", false, 50, 70},
          {4, "B1", false, 90, 110}, {5, "F0", true, 20, 30}, {5, "B0", false, 30, 50},
          {5, "F1", true, 60, 70},   {5, "B1", false, 70, 90}};
}

TEST(PipelineStages, BubblesAreTimesWithoutAPassAndHaveACause) {
  const table::Table table =
      BubbleTable(TwoStages(), {{4, true, 25, 50}, {4, false, 22, 24}, {5, false, 50, 58}}, 1);
  EXPECT_EQ(table.Find("rank")->ints, (std::vector<int64_t>{4, 4, 5}));
  EXPECT_EQ(table.Find("start_ns")->ints, (std::vector<int64_t>{19, 69, 49}));
  EXPECT_EQ(table.Find("end_ns")->ints, (std::vector<int64_t>{49, 89, 59}));
  EXPECT_EQ(table.Find("cause")->texts, (std::vector<std::string>{"receive", "idle", "send"}));
}

TEST(PipelineStages, CountTheirBubblesFromTheFirstPassToTheLast) {
  const table::Table table = StageTable(TwoStages());
  EXPECT_EQ(table.Find("rank")->ints, (std::vector<int64_t>{4, 5}));
  EXPECT_EQ(table.Find("stage")->ints, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(table.Find("batches")->ints, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(table.Find("busy_us")->ints, (std::vector<int64_t>{60, 60}));
  EXPECT_EQ(table.Find("bubble_us")->ints, (std::vector<int64_t>{50, 50}));
  EXPECT_EQ(Cell(table, "bubble_ratio", 0), 45.45);
}

// 1F1B of two stages: stage 0 runs F0 F1 B0 B1, stage 1 F0 B0 F1 B1.
TEST(PipelineStages, TheIdealScheduleWaitsForNothingButItsInputs) {
  const table::Table table = IdealTable(TwoStages(), 0);
  std::map<std::string, std::pair<int64_t, int64_t>> passes;
  for (size_t i = 0; i < table.rows(); ++i) {
    passes[std::to_string(table.Find("rank")->ints[i]) + table.Find("name")->texts[i]] = {
        table.Find("start_ns")->ints[i], table.Find("end_ns")->ints[i]};
  }
  const std::map<std::string, std::pair<int64_t, int64_t>> expected = {
      {"4FP0", {0, 10}},  {"4FP1", {10, 20}}, {"4BP0", {40, 60}}, {"4BP1", {70, 90}},
      {"5FP0", {10, 20}}, {"5BP0", {20, 40}}, {"5FP1", {40, 50}}, {"5BP1", {50, 70}}};
  EXPECT_EQ(passes, expected);
}

TEST(PipelineStages, RanksOfDifferentBatchesHaveNoIdeal) {
  std::vector<Pass> passes = TwoStages();
  passes.pop_back();
  EXPECT_EQ(IdealTable(passes, 0).rows(), 0u);
  EXPECT_EQ(IdealTable({}, 0).rows(), 0u);
  EXPECT_EQ(StageTable({}).rows(), 0u);
}

// Two iterations of generate and update on two ranks; rank 1 is slower to generate.
store::Job Loop() {
  TestRank a(0);
  TestRank b(1);
  for (TestRank* rank : {&a, &b}) {
    const int64_t extra = rank == &b ? 30 : 0;
    for (const int64_t start : {0, 1000}) {
      rank->Slice(rank->host, start, start + 100 + extra, "generate_sequences");
      rank->Slice(rank->host, start + 10, start + 50, "generate_sequences");  // inside: the same
      rank->Slice(rank->stream, start, start + 100, "generate_sequences");    // its device side
      rank->Slice(rank->host, start + 200, start + 500, "update_actor");
      rank->Slice(rank->host, start + 210, start + 250, "TransformerBlock");
      rank->Slice(rank->host, start + 212, start + 230, "TransformerLayer");
      rank->Slice(rank->host, start + 230, start + 248, "TransformerLayer");
      rank->Slice(rank->host, start + 300, start + 320, "TransformerLayer");
      rank->Slice(rank->host, start + 320, start + 350, "TransformerLayer");
    }
  }
  return JobOf(a, b);
}

TEST(Rl, FindsTasksByTheirMarksAndNumbersIterations) {
  const table::Table tasks = TableOf(Loop(), "rl", "tasks");
  ASSERT_EQ(tasks.rows(), 8u);
  EXPECT_EQ(tasks.Find("iteration")->ints, (std::vector<int64_t>{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(tasks.Find("role")->texts[0], "ActorRollout");
  EXPECT_EQ(tasks.Find("role")->texts[2], "Actor");
  const table::Table iterations = TableOf(Loop(), "rl", "iterations");
  ASSERT_EQ(iterations.rows(), 4u);
  EXPECT_EQ(iterations.Find("avg_us")->ints[0], 115);
  EXPECT_EQ(iterations.Find("max_us")->ints[0], 130);
  EXPECT_EQ(iterations.Find("slowest_rank")->ints[0], 1);
  EXPECT_EQ(Cell(iterations, "share", 1), 60);
  const table::Table bubbles = TableOf(Loop(), "rl", "bubbles");
  ASSERT_EQ(bubbles.rows(), 6u);
  EXPECT_EQ(bubbles.Find("start_ns")->ints[0], 100);
  EXPECT_EQ(bubbles.Find("end_ns")->ints[0], 200);
  EXPECT_EQ(bubbles.Find("before")->texts[0], "update_actor");
}

TEST(Rl, ABackwardPassIsAsManyLayersAsTheForwardOne) {
  MetricArgs args;
  args.values.emplace("ranks", int64_t{0});
  const table::Table batches = TableOf(Loop(), "rl", "batches", args);
  ASSERT_EQ(batches.rows(), 4u);
  EXPECT_EQ(batches.Find("type")->texts, (std::vector<std::string>{"FP", "BP", "FP", "BP"}));
  EXPECT_EQ(batches.Find("start_ns")->ints[1], 300);
  EXPECT_EQ(batches.Find("end_ns")->ints[1], 350);
}

TEST(Rl, TakesAConfigAndSaysWhatIsWrongWithIt) {
  MetricArgs args;
  args.values.emplace("config", std::string(R"({"config":[{"framework":"mine","tasks":[)"
                                            R"({"roleName":"R","taskName":"update_actor"}]}]})"));
  const table::Table tasks = TableOf(Loop(), "rl", "tasks", args);
  ASSERT_EQ(tasks.rows(), 4u);
  EXPECT_EQ(tasks.Find("role")->texts[0], "R");
  for (const char* bad : {"{", "{}", R"({"config":[{"tasks":[{}]}]})"}) {
    args.values["config"] = std::string(bad);
    EXPECT_FALSE(ComputeMetric("rl", args, Loop()).ok()) << bad;
  }
}

}  // namespace
}  // namespace steplens::analysis::viewer
