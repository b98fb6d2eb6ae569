#include "analysis/breakdown/breakdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/testing/random.h"
#include "analysis/testing/store_builder.h"

namespace steplens::analysis {
namespace {

using store::TrackId;
using testing::ElementsAre;

int64_t Cell(const table::Table& table, std::string_view column, size_t row = 0) {
  const table::Column* found = table.Find(column);
  return found == nullptr ? -1 : found->ints.at(row);
}

std::vector<std::string> Names(const table::Table& table) {
  std::vector<std::string> names;
  for (const auto& column : table.columns()) names.push_back(column.name);
  return names;
}

// Two steps of one kernel each, with a gap between them, and a collective half hidden by the first
// kernel.
StoreBuilder TwoSteps(store::Format format) {
  StoreBuilder b;
  b.store.info.format = format;
  const TrackId host = b.ThreadOf("Python", "Thread 1");
  const TrackId cann = b.ThreadOf("CANN", "Thread 2");
  const TrackId stream = b.ThreadOf("Ascend Hardware", "Stream 2");
  b.Step(1, 0, 1000);
  b.Step(2, 1000, 2000);
  b.Slice(cann, 10, 20, "Node@launch", "", 1);
  b.Slice(cann, 1010, 1020, "Node@launch", "", 2);
  b.Slice(stream, 100, 500, "Add", "", 1);
  b.Slice(stream, 1100, 1300, "Add", "", 2);
  b.Flow("async_npu", host, 5, stream, 100);
  b.Flow("async_npu", host, 1005, stream, 1100);
  b.Kernel("Add", "Add", "AI_CORE", 100, 500);
  b.Kernel("Add", "Add", "AI_CORE", 1100, 1300);
  b.CommOp("hcom_allReduce__1", 400, 700);
  return b;
}

TEST(StepBreakdown, TextGivesTheGapAfterAStepToTheStep) {
  const table::Table table = StepBreakdown(TwoSteps(store::Format::kText).Job(), {});
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(Cell(table, "Step"), 1);
  EXPECT_EQ(Cell(table, "Computing"), 400);
  EXPECT_EQ(Cell(table, "Communication"), 300);
  EXPECT_EQ(Cell(table, "Communication(Not Overlapped)"), 200);
  EXPECT_EQ(Cell(table, "Overlapped"), 100);
  EXPECT_EQ(Cell(table, "Free"), 400);
  EXPECT_EQ(Cell(table, "Stage"), 1000);
  EXPECT_EQ(Cell(table, "Preparing"), 100);
  EXPECT_EQ(Cell(table, "Free", 1), 0);
  EXPECT_EQ(Cell(table, "Stage", 1), 200);
  EXPECT_EQ(Cell(table, "Preparing", 1), 100);
}

TEST(StepBreakdown, DbMeasuresInsideTheHullOfTheStep) {
  const table::Table table = StepBreakdown(TwoSteps(store::Format::kDb).Job(), {});
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(Cell(table, "Computing"), 400);
  EXPECT_EQ(Cell(table, "Communication(Not Overlapped)"), 200);
  EXPECT_EQ(Cell(table, "Free"), 0);
  EXPECT_EQ(Cell(table, "Stage"), 600);
  EXPECT_EQ(Cell(table, "Preparing"), 100);
}

TEST(BreakDown, GivesThePartsOfEachStep) {
  const StoreBuilder b = TwoSteps(store::Format::kText);
  const std::vector<StepParts> steps = BreakDown(RankView(b.store));
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].step, 1);
  EXPECT_EQ(steps[0].computing_ns, 400);
  EXPECT_EQ(steps[0].comm_not_overlapped_ns, 200);
  EXPECT_EQ(steps[0].overlapped_ns, 100);
  EXPECT_EQ(steps[0].communication_ns, 300);
  EXPECT_EQ(steps[0].free_ns, 400);
  EXPECT_EQ(steps[0].stage_ns, 1000);
  EXPECT_EQ(steps[0].bubble_ns, 0);
  EXPECT_EQ(steps[0].comm_exclude_receive_ns, 200);
  EXPECT_EQ(steps[0].preparing_ns, 100);
  EXPECT_EQ(steps[0].memory_ns, 0);
  EXPECT_EQ(steps[1].step, 2);
  EXPECT_FALSE(HasSeveralDevices(steps));
}

TEST(BreakDown, SelectsRankAndStep) {
  const StoreBuilder b = TwoSteps(store::Format::kText);
  const RankView rank(b.store);
  const std::vector<StepParts> second = BreakDown(rank, {.selection = {.rank = 0, .step = 2}});
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].stage_ns, 200);
  EXPECT_TRUE(BreakDown(rank, {.selection = {.rank = 1, .step = {}}}).empty());
}

TEST(BreakDown, WhatResultFilesLackIsNotKnown) {
  StoreBuilder b;
  b.store.step_traces.Append({.device = 4, .step = 7, .computing_us = 5});
  const std::vector<StepParts> steps = BreakDown(RankView(b.store));
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].device, 4);
  EXPECT_EQ(steps[0].computing_ns, 5000);
  EXPECT_EQ(steps[0].free_ns, store::kNone);
  EXPECT_EQ(steps[0].memory_ns, store::kNone);
}

TEST(BreakDown, RowsAreByDeviceThenStep) {
  StoreBuilder b;
  b.Kernel("Add", "Add", "AI_CORE", 0, 10, 1);
  b.Kernel("Add", "Add", "AI_CORE", 0, 30, 0);
  const std::vector<StepParts> rows = BreakDown(RankView(b.store));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].device, 0);
  EXPECT_EQ(rows[0].computing_ns, 30);
  EXPECT_EQ(rows[1].device, 1);
  EXPECT_TRUE(HasSeveralDevices(rows));
}

TEST(StepBreakdown, HasTheColumnsOfStepTraceTime) {
  BreakdownOptions compat;
  compat.compat = true;
  EXPECT_THAT(Names(StepBreakdown(TwoSteps(store::Format::kText).Job(), compat)),
              ElementsAre("Rank", "Step", "Computing", "Communication(Not Overlapped)",
                          "Overlapped", "Communication", "Free", "Stage", "Bubble",
                          "Communication(Not Overlapped and Exclude Receive)", "Preparing"));
}

// The step time that every page shows stands beside the parts of the step.
TEST(StepBreakdown, EndsWithTheStepTime) {
  const store::Job job = TwoSteps(store::Format::kText).Job();
  const table::Table table = StepBreakdown(job, {});
  EXPECT_EQ(Names(table).back(), "Step Time");
  // From mark to mark, as from device work to device work; the last mark itself lasts as long.
  EXPECT_EQ(table.Find("Step Time")->ints, (std::vector<int64_t>{1000, 1000}));
  BreakdownOptions as_file;
  as_file.rule = BreakdownRule::kText;
  EXPECT_EQ(Names(StepBreakdown(job, as_file)).back(), "Preparing");
}

TEST(StepBreakdown, ReceivesAreBubbleAndLeaveTheStage) {
  StoreBuilder b;
  b.store.info.format = store::Format::kText;
  b.Kernel("Add", "Add", "AI_CORE", 0, 100);
  b.CommOp("hcom_receive__1", 100, 400);
  b.CommOp("hcom_allReduce__1", 400, 450);
  const table::Table table = StepBreakdown(b.Job(), {});
  EXPECT_EQ(Cell(table, "Bubble"), 300);
  EXPECT_EQ(Cell(table, "Stage"), 150);
  EXPECT_EQ(Cell(table, "Communication(Not Overlapped and Exclude Receive)"), 50);
}

TEST(StepBreakdown, WithoutStepsIsOneRowFromTheFirstOperator) {
  StoreBuilder b;
  b.store.info.format = store::Format::kText;
  b.Slice(b.ThreadOf("Python", "Thread 1"), 10, 20, "aten::add", "cpu_op");
  b.Kernel("Add", "Add", "AI_CORE", 50, 100);
  const table::Table table = StepBreakdown(b.Job(), {});
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(Cell(table, "Step"), table::kNull);
  EXPECT_EQ(Cell(table, "Preparing"), 40);
}

TEST(StepBreakdown, FreeReachesOverTheDeliveredRange) {
  StoreBuilder b;
  b.store.info.format = store::Format::kText;
  b.Kernel("Add", "Add", "AI_CORE", 50, 100);
  b.Slice(b.ThreadOf("Overlap Analysis", "Free"), 20, 50, "Free");
  EXPECT_EQ(Cell(StepBreakdown(b.Job(), {}), "Free"), 30);
}

TEST(StepBreakdown, GpuCopiesHaveAColumnOfTheirOwn) {
  StoreBuilder b;
  b.store.info.format = store::Format::kJson;
  const TrackId stream = b.ThreadOf("python", "stream 7");
  b.Slice(stream, 0, 100, "gemm", "kernel");
  b.Kernel("gemm", "", "", 0, 100);
  b.Kernel("ncclKernel", "", "", 50, 150);
  b.Slice(stream, 140, 180, "Memcpy", "gpu_memcpy");
  b.Slice(stream, 200, 210, "Memset", "gpu_memset");
  const table::Table table = StepBreakdown(b.Job(), {});
  EXPECT_EQ(Cell(table, "Computing"), 100);
  EXPECT_EQ(Cell(table, "Communication(Not Overlapped)"), 50);
  EXPECT_EQ(Cell(table, "Memory"), 40);
  EXPECT_EQ(Cell(table, "Free"), 20);
  EXPECT_EQ(Cell(table, "Stage"), 210);
}

// Step 1 has a kernel that runs after the first one of step 2.
StoreBuilder OverlappingSteps(store::Format format) {
  StoreBuilder b;
  b.store.info.format = format;
  const TrackId host = b.ThreadOf("python", "thread 1");
  const TrackId stream = b.ThreadOf("python", "stream 7");
  b.Step(1, 0, 100);
  b.Step(2, 100, 200);
  const auto launch = [&](int64_t correlation, int64_t host_ns, int64_t begin_ns, int64_t end_ns) {
    b.Slice(host, host_ns, host_ns + 2, "cudaLaunchKernel", "cuda_runtime", correlation);
    b.Slice(stream, begin_ns, end_ns, "gemm", "kernel", correlation);
    b.Kernel("gemm", "", "", begin_ns, end_ns);
  };
  launch(1, 10, 20, 60);
  launch(2, 20, 250, 300);   // of step 1, late
  launch(3, 110, 120, 160);  // of step 2, while step 1 still runs
  launch(4, 120, 310, 400);
  return b;
}

TEST(StepBreakdown, KernelsCountOnceWhereStepsOfAGpuOverlap) {
  const table::Table table = StepBreakdown(OverlappingSteps(store::Format::kJson).Job(), {});
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(Cell(table, "Computing", 0), 40 + 50 + 40);
  EXPECT_EQ(Cell(table, "Computing", 1), 90);
  EXPECT_EQ(Cell(table, "Stage", 1), 90);
}

TEST(StepBreakdown, CompatCountsThemInEachOfTheSteps) {
  BreakdownOptions options;
  options.compat = true;
  const table::Table table = StepBreakdown(OverlappingSteps(store::Format::kJson).Job(), options);
  EXPECT_EQ(Cell(table, "Computing", 0), 40 + 50 + 40);
  EXPECT_EQ(Cell(table, "Computing", 1), 40 + 50 + 90);
}

TEST(StepBreakdown, ResultFilesCountTheCopiesOfAGpuAsFree) {
  StoreBuilder b;
  b.store.info.format = store::Format::kJson;
  const TrackId stream = b.ThreadOf("python", "stream 7");
  b.Slice(stream, 0, 100, "gemm", "kernel");
  b.Slice(stream, 120, 150, "Memcpy", "gpu_memcpy");
  b.Slice(stream, 200, 210, "gemm", "kernel");
  b.Kernel("gemm", "", "", 0, 100);
  b.Kernel("gemm", "", "", 200, 210);
  const store::Job job = b.Job();
  for (const BreakdownRule rule : {BreakdownRule::kText, BreakdownRule::kDb}) {
    BreakdownOptions options;
    options.rule = rule;
    const table::Table table = StepBreakdown(job, options);
    EXPECT_EQ(table.Find("Memory"), nullptr);
    EXPECT_EQ(Cell(table, "Free"), 100);
    EXPECT_EQ(Cell(table, "Stage"), 210);
  }
}

TEST(StepBreakdown, SelectsRanksAndSteps) {
  store::Job job = TwoSteps(store::Format::kText).Job();
  job.ranks.push_back(std::move(TwoSteps(store::Format::kText).store));
  job.ranks[1].info.rank = 1;
  EXPECT_EQ(StepBreakdown(job, {}).rows(), 4u);
  BreakdownOptions options;
  options.selection = {.rank = 1, .step = 2};
  const table::Table table = StepBreakdown(job, options);
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(Cell(table, "Rank"), 1);
  EXPECT_EQ(Cell(table, "Step"), 2);
}

TEST(StepBreakdown, NamesTheDeviceIfThereAreSeveral) {
  StoreBuilder b;
  b.store.info.format = store::Format::kText;
  b.Kernel("Add", "Add", "AI_CORE", 0, 10, 1);
  b.Kernel("Add", "Add", "AI_CORE", 0, 30, 0);
  const table::Table table = StepBreakdown(b.Job(), {});
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(Cell(table, "Device_id", 0), 0);
  EXPECT_EQ(Cell(table, "Computing", 0), 30);
}

TEST(StepBreakdown, CompatRoundsTimesLikeDoublesDo) {
  StoreBuilder b;
  b.store.info.format = store::Format::kText;
  constexpr int64_t kToday = 1736408883704643212;  // shown as ...643.25 us in a double
  b.Kernel("Add", "Add", "AI_CORE", kToday, kToday + 1130);
  BreakdownOptions options;
  options.compat = true;
  EXPECT_EQ(Cell(StepBreakdown(b.Job(), options), "Stage") % 250, 0);
}

// Kernels whose delivered runs end a nanosecond beside them, as a fraction of one was cut off.
StoreBuilder RoundedKernels() {
  StoreBuilder b;
  b.store.info.format = store::Format::kText;
  b.Kernel("Add", "Add", "AI_CORE", 100, 200);
  b.Kernel("Add", "Add", "AI_CORE", 200, 300);
  b.Kernel("Add", "Add", "AI_CORE", 400, 501);
  b.Slice(b.ThreadOf("Overlap Analysis", "Computing"), 100, 301, "Computing");
  return b;
}

TEST(StepBreakdown, TakesTheBordersOfOverlapAnalysisWhereTheyAreTheKernelsRounded) {
  StoreBuilder b = RoundedKernels();
  b.Slice(b.ThreadOf("Overlap Analysis", "Computing"), 400, 500, "Computing");
  const table::Table table = StepBreakdown(b.Job(), {});
  EXPECT_EQ(Cell(table, "Computing"), 301);
  EXPECT_EQ(Cell(table, "Free"), 99);
  EXPECT_EQ(Cell(table, "Stage"), 400);
}

TEST(StepBreakdown, TrustsTheKernelsWhereOverlapAnalysisSaysSomethingElse) {
  EXPECT_EQ(Cell(StepBreakdown(RoundedKernels().Job(), {}), "Free"), 100);
  StoreBuilder shorter = RoundedKernels();
  shorter.Slice(shorter.ThreadOf("Overlap Analysis", "Computing"), 400, 450, "Computing");
  EXPECT_EQ(Cell(StepBreakdown(shorter.Job(), {}), "Free"), 100);
  StoreBuilder more = RoundedKernels();
  more.Slice(more.ThreadOf("Overlap Analysis", "Computing"), 400, 501, "Computing");
  more.Slice(more.ThreadOf("Overlap Analysis", "Computing"), 600, 700, "Computing");
  EXPECT_EQ(Cell(StepBreakdown(more.Job(), {}), "Computing"), 301);
}

// kernel_details.csv with Step Id, and no timeline.
StoreBuilder KernelsOnly() {
  StoreBuilder b;
  b.store.info.format = store::Format::kText;
  b.Kernel("Add", "Add", "AI_CORE", 100, 200);
  b.Kernel("Add", "Add", "AI_CORE", 300, 350);
  b.store.kernels.step.Set(0, 7);
  b.store.kernels.step.Set(1, 8);
  return b;
}

TEST(StepBreakdown, WithoutATimelineTheStepTableIsShown) {
  StoreBuilder b = KernelsOnly();
  b.store.step_traces.Append({.step = 7, .computing_us = 5, .free_us = 3, .preparing_us = 0.25});
  b.store.step_traces.Append({.step = 8, .computing_us = 6});
  const table::Table table = StepBreakdown(b.Job(), {});
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(Cell(table, "Step"), 7);
  EXPECT_EQ(Cell(table, "Computing"), 5000);
  EXPECT_EQ(Cell(table, "Preparing"), 250);
  EXPECT_EQ(Cell(table, "Step", 1), 8);
  EXPECT_EQ(Cell(table, "Preparing", 1), table::kNull);
}

TEST(StepBreakdown, ResultFilesAreNeverTheirOwnWitness) {
  StoreBuilder b = KernelsOnly();
  b.store.step_traces.Append({.step = 7, .computing_us = 5});
  BreakdownOptions options;
  options.rule = BreakdownRule::kText;
  EXPECT_EQ(Cell(StepBreakdown(b.Job(), options), "Computing"), 100);
}

TEST(StepBreakdown, WithoutATimelineKernelsTellTheirSteps) {
  const table::Table table = StepBreakdown(KernelsOnly().Job(), {});
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(Cell(table, "Step"), 7);
  EXPECT_EQ(Cell(table, "Computing"), 100);
  EXPECT_EQ(Cell(table, "Step", 1), 8);
  EXPECT_EQ(Cell(table, "Computing", 1), 50);
}

TEST(StepBreakdown, EmptyJobHasNoRows) {
  EXPECT_EQ(StepBreakdown(store::Job{}, {}).rows(), 0u);
  EXPECT_EQ(StepBreakdown(StoreBuilder{}.Job(), {}).rows(), 0u);
}

TEST(StepBreakdown, PartsSumToStageAndBubble) {
  std::mt19937 random(5);
  for (int round = 0; round < 600; ++round) {
    StoreBuilder b;
    b.store.info.format = round % 2 == 0 ? store::Format::kText : store::Format::kDb;
    const TrackId host = b.ThreadOf("Python", "Thread 1");
    const TrackId stream = b.ThreadOf("Ascend Hardware", "Stream 2");
    for (int64_t step = 0; step < 3; ++step) {
      b.Step(step, step * 100, step * 100 + 100);
      for (int64_t n = RandomBelow(random, 5); n > 0; --n) {
        const int64_t begin_ns = step * 100 + 10 + RandomBelow(random, 80);
        const int64_t end_ns = begin_ns + RandomBelow(random, 60);
        b.Kernel("Add", "Add", "AI_CORE", begin_ns, end_ns);
        b.Slice(stream, begin_ns, end_ns, "Add");
        b.Flow("async_npu", host, step * 100 + 5, stream, begin_ns);
      }
    }
    for (int64_t n = RandomBelow(random, 4); n > 0; --n) {
      const int64_t begin_ns = RandomBelow(random, 300);
      b.CommOp(n % 2 == 0 ? "hcom_receive__1" : "hcom_send__1", begin_ns,
               begin_ns + RandomBelow(random, 90));
    }
    const table::Table table = StepBreakdown(b.Job(), {});
    for (size_t row = 0; row < table.rows(); ++row) {
      ASSERT_EQ(Cell(table, "Computing", row) + Cell(table, "Communication(Not Overlapped)", row) +
                    Cell(table, "Free", row),
                Cell(table, "Stage", row) + Cell(table, "Bubble", row))
          << "round " << round << " row " << row;
      ASSERT_EQ(Cell(table, "Overlapped", row) + Cell(table, "Communication(Not Overlapped)", row),
                Cell(table, "Communication", row));
    }
  }
}

TEST(TemporalBreakdown, SplitsTheSpanOfDeviceEvents) {
  StoreBuilder b;
  const TrackId stream = b.ThreadOf("python", "stream 7");
  b.Slice(stream, 0, 40, "gemm", "kernel");
  b.Kernel("gemm", "", "", 0, 40);
  b.Kernel("ncclKernel", "", "", 30, 60);
  b.Slice(stream, 90, 100, "Memcpy", "gpu_memcpy");
  const table::Table table = TemporalBreakdown(b.Job());
  EXPECT_EQ(Cell(table, "kernel_time(us)"), 100);
  EXPECT_EQ(Cell(table, "compute_time(us)"), 40);
  EXPECT_EQ(Cell(table, "idle_time(us)"), 30);
  EXPECT_EQ(Cell(table, "non_compute_time(us)"), 30);
  EXPECT_DOUBLE_EQ(table.Find("idle_time_pctg")->doubles[0], 30.0);
}

}  // namespace
}  // namespace steplens::analysis
