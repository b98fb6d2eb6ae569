#include "analysis/cluster/recipes/recipe_testing.h"
#include "analysis/cluster/recipes/recipes.h"

namespace steplens::analysis::cluster {
namespace {

constexpr int64_t kUs = 1000;

// Kernels on a stream with the operator and the launch behind each.
struct BusyRank : StoreBuilder {
  store::TrackId python = ThreadOf("Python", "Thread 1");
  store::TrackId cann = ThreadOf("CANN", "Thread 2");
  store::TrackId stream = ThreadOf("Ascend Hardware", "Stream 1");
  int64_t correlation = 0;

  void Launch(int64_t op_us, int64_t launch_us, int64_t begin_us, int64_t end_us) {
    ++correlation;
    Slice(python, op_us * kUs, (op_us + 1) * kUs, "aten::mm", "cpu_op");
    Slice(cann, launch_us * kUs, (launch_us + 2) * kUs, "Node@launch", "", correlation);
    Run(begin_us, end_us);
    Flow("async_npu", python, op_us * kUs, stream, begin_us * kUs);
  }
  void Run(int64_t begin_us, int64_t end_us) {
    Slice(stream, begin_us * kUs, end_us * kUs, "mm", "AI_CORE", correlation);
    Kernel("mm", "MatMulV2", "AI_CORE", begin_us * kUs, end_us * kUs);
  }
};

std::string Reason(BusyRank& rank) {
  const Answer answer = AskRecipe(FreeAnalysisRecipe(), {}, {&rank});
  return Cell(TableOf(answer, "FreeAnalysis"), "reason", 0);
}

TEST(FreeAnalysis, BlamesTheFrameworkThatAsksTooLate) {
  BusyRank rank;
  rank.Launch(0, 2, 10, 20);
  rank.Launch(500, 502, 510, 520);
  EXPECT_EQ(Reason(rank), "Idle Pytorch layer: no task dispatched in 500.0 us");
}

TEST(FreeAnalysis, BlamesTheLaunchThatPassesOnTooLate) {
  BusyRank rank;
  rank.Launch(0, 2, 10, 20);
  rank.Launch(5, 502, 510, 520);
  EXPECT_EQ(Reason(rank), "Abnormal CANN layer: long time between two node@launch 498.0 us");
}

TEST(FreeAnalysis, NamesTheTasksThatRunInTheGap) {
  BusyRank rank;
  rank.Launch(0, 2, 10, 20);
  rank.Launch(500, 502, 510, 520);
  rank.Slice(rank.stream, 30 * kUs, 40 * kUs, "MEMCPY_ASYNC", "MEMCPY_ASYNC", 99);
  EXPECT_EQ(Reason(rank), "Device task running: 1 MEMCPY_ASYNC tasks, max remaining free 470.0 us");
}

TEST(FreeAnalysis, SkipsWhatWasNotLaunchedByAnOperator) {
  BusyRank rank;
  rank.Run(10, 20);
  rank.Launch(500, 502, 510, 520);
  EXPECT_EQ(Reason(rank), "Skip free analysis due to no pytorch dispatch time.");
}

TEST(FreeAnalysis, KeepsTheLongestGapsOfTheStep) {
  BusyRank rank;
  rank.Launch(0, 1, 10, 20);
  rank.Launch(30, 31, 40, 50);      // gap of 20
  rank.Launch(90, 91, 100, 110);    // gap of 50
  rank.Launch(190, 191, 300, 310);  // gap of 190, after the step
  rank.Step(1, 0, 105 * kUs);
  Options options;
  options.step = 1;
  options.values["top_num"] = "1";
  const Answer answer = AskRecipe(FreeAnalysisRecipe(), options, {&rank});
  const table::Table& table = TableOf(answer, "FreeAnalysis");
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(Cell(table, "startTime(us)", 0), "50");
  EXPECT_EQ(table.Find("duration(us)")->doubles[0], 50);
}

TEST(FreeAnalysis, OnlyCompatLosesDigits) {
  constexpr int64_t kEpochUs = 1736410576000000;
  BusyRank rank;
  rank.Launch(kEpochUs, kEpochUs + 2, kEpochUs + 10, kEpochUs + 20);
  rank.Launch(kEpochUs + 501, kEpochUs + 503, kEpochUs + 510, kEpochUs + 520);
  rank.Run(kEpochUs + 520, kEpochUs + 530);
  rank.Slice(rank.stream, kEpochUs * kUs, kEpochUs * kUs + 1, "X", "PROFILING_ENABLE");
  EXPECT_EQ(Reason(rank), "Idle Pytorch layer: no task dispatched in 501.0 us");
  Options compat;
  compat.compat = true;
  const Answer theirs = AskRecipe(FreeAnalysisRecipe(), compat, {&rank});
  const double idle_us = TableOf(theirs, "FreeAnalysis").Find("pytorchIdleTime(us)")->doubles[0];
  EXPECT_EQ(static_cast<int64_t>(idle_us * 1000 + 0.5) % 256, 0);
}

}  // namespace
}  // namespace steplens::analysis::cluster
