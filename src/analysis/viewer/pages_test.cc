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

TEST(OperatorGroups, TheRingByCoreSumsAllRowsNotThoseShown) {
  TestRank rank;
  rank.Kernel("a", "MatMul", "AI_CORE", 0, 3000);
  rank.Kernel("b", "Add", "AI_VECTOR_CORE", 3000, 5000);
  rank.Kernel("c", "Mul", "AI_CORE", 5000, 6000);
  MetricArgs args;
  args.values = {{"rank", int64_t{0}}, {"top", int64_t{1}}};
  const store::Job job = JobOf(rank);
  EXPECT_EQ(TableOf(job, "operator_groups", "groups", args).rows(), 1u);
  const table::Table cores = TableOf(job, "operator_groups", "cores", args);
  ASSERT_EQ(cores.rows(), 2u);
  EXPECT_EQ(Cell(cores, "duration_us", 0), 4);
  EXPECT_EQ(Cell(cores, "duration_us", 1), 2);
}

TEST(OperatorGroups, ACaptureOfTheHostHasTheWordsOfTheHost) {
  TestRank rank;
  rank.Kernel("a", "mm", "AI_CORE", 0, 3000);
  rank.store.meta.Append({.name = rank.Text("steplens_host.device"), .value = rank.Text("cpu")});
  EXPECT_EQ(TableOf(JobOf(rank), "operator_groups", "cores").Find("name")->texts,
            std::vector<std::string>{"CPU"});
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

TEST(MemoryOperators, NamesTheOperatorThatRanWhereTheCaptureDoesNot) {
  TestRank rank;
  const store::TrackId other = rank.ThreadOf("Python", "Thread 2");
  rank.Slice(rank.host, 0, 100, "aten::linear", "cpu_op");
  rank.Slice(rank.host, 10, 50, "aten::addmm", "cpu_op");
  rank.Slice(other, 30, 40, "aten::copy_", "cpu_op");
  rank.Slice(rank.host, 110, 150, "aten::conv2d", "cpu_op");
  rank.Slice(rank.host, 112, 140, "aten::empty_like", "cpu_op");
  rank.Slice(rank.host, 113, 130, "aten::empty", "cpu_op");
  rank.Slice(rank.host, 160, 170, "aten::empty", "cpu_op");
  for (const int64_t at_ns : {20, 35, 60, 120, 165, 200}) {
    rank.store.allocations.Append({.size_bytes = 8, .alloc_ns = at_ns});
  }
  rank.store.allocations.Append({.name = rank.Text("own"), .size_bytes = 8, .alloc_ns = 20});
  const store::Job job = JobOf(rank);
  EXPECT_EQ(TableOf(job, "memory_operators", "memory_operators").Find("Name")->texts,
            (std::vector<std::string>{"aten::addmm", "aten::copy_", "aten::linear", "aten::conv2d",
                                      "aten::empty", "", "own"}));
}

// Two passes over a model:  forward 0-100, backward 100-200, optimizer 200-300, and again.
TestRank TwoTrainingSteps(bool has_arrows = true) {
  TestRank rank;
  for (const int64_t t : {0, 300}) {
    rank.Slice(rank.host, t + 10, t + 20, "aten::mm", "cpu_op");
    rank.Slice(rank.host, t + 100, t + 150, "autograd::engine::evaluate_function: Mm", "cpu_op");
    rank.Slice(rank.host, t + 160, t + 200, "autograd::engine::evaluate_function: Acc", "cpu_op");
    rank.Slice(rank.host, t + 200, t + 300, "Optimizer.step#AdamW.step", "user_annotation");
    if (has_arrows) rank.Flow("fwdbwd", rank.host, t + 10, rank.host, t + 100);
  }
  return rank;
}

TEST(MemoryCurve, TellsWhatMemoryIsForByWhenItComesAndGoes) {
  TestRank rank = TwoTrainingSteps();
  const auto block = [&](int64_t mb, int64_t alloc_ns, int64_t release_ns) {
    rank.store.allocations.Append(
        {.size_bytes = mb << 20, .alloc_ns = alloc_ns, .release_ns = release_ns});
  };
  block(1, 15, 120);             // activation: released by the backward pass
  block(2, 15, 90);              // temporary of the forward pass
  block(4, 110, 155);            // temporary of the backward pass, between two of its operators
  block(8, 110, 320);            // gradient
  block(16, 210, store::kNone);  // state of the optimizer
  block(32, 15, 320);            // other: outlives the backward pass
  block(64, 315, 420);           // activation of the second step
  block(128, 650, 700);          // other: no backward pass follows
  MetricArgs args;
  args.values.emplace("group_by", std::string("Kind"));
  const table::Table peaks = TableOf(JobOf(rank), "memory_curve", "peaks", args);
  EXPECT_EQ(peaks.Find("series")->texts,
            (std::vector<std::string>{"Activations", "Gradients", "Optimizer States", "Temporary",
                                      "Other"}));
  EXPECT_EQ(peaks.Find("peak_mb")->doubles, (std::vector<double>{64, 8, 16, 4, 128}));
}

TEST(MemoryCurve, WithoutArrowsTheOptimizerStandsBetweenTwoBackwardPasses) {
  TestRank rank = TwoTrainingSteps(/*has_arrows=*/false);
  rank.store.allocations.Append({.size_bytes = 8 << 20, .alloc_ns = 315, .release_ns = 420});
  MetricArgs args;
  args.values.emplace("group_by", std::string("Kind"));
  EXPECT_EQ(TableOf(JobOf(rank), "memory_curve", "peaks", args).Find("series")->texts,
            std::vector<std::string>{"Activations"});
}

TEST(MemoryCurve, WhatTheTotalsHaveBeyondKnownBlocksIsFromBefore) {
  TestRank rank = TwoTrainingSteps();
  rank.store.allocations.Append({.size_bytes = 1 << 20, .alloc_ns = 15, .release_ns = 120});
  const auto sample = [&](int64_t ts_ns, int64_t mb) {
    rank.store.memory_samples.Append({.component = rank.Text("PTA+GE"),
                                      .ts_ns = ts_ns,
                                      .allocated_bytes = mb << 20,
                                      .reserved_bytes = mb << 20,
                                      .device = rank.Text("NPU:0")});
  };
  sample(5, 40);
  sample(15, 41);
  sample(120, 40);
  sample(200, 30);  // a block that nobody saw come is gone
  MetricArgs args;
  args.values.emplace("group_by", std::string("Kind"));
  const table::Table points = TableOf(JobOf(rank), "memory_curve", "points", args);
  ASSERT_EQ(points.rows(), 6u);
  EXPECT_EQ(points.Find("series")->texts[0], "Before the Capture");
  EXPECT_EQ(Cell(points, "value_mb", 0), 40);
  EXPECT_EQ(Cell(points, "value_mb", 1), 40);
  EXPECT_EQ(Cell(points, "value_mb", 2), 40);
  EXPECT_EQ(Cell(points, "value_mb", 3), 30);
}

TEST(MemoryCurve, WithoutBackwardPassesKindsAreNotGuessed) {
  TestRank rank;
  rank.store.allocations.Append({.size_bytes = 8, .alloc_ns = 15, .release_ns = 120});
  MetricArgs args;
  args.values.emplace("group_by", std::string("Kind"));
  const Result<MetricAnswer> answer = ComputeMetric("memory_curve", args, JobOf(rank));
  ASSERT_TRUE(answer.ok());
  ASSERT_EQ(answer->warnings.size(), 1u);
  EXPECT_EQ(answer->warnings[0].key, "warning.no_tensor_kinds");
}

TEST(MemoryGrowth, NamesWhoLeavesMoreBehindWithEveryStep) {
  TestRank rank;
  const auto block = [&](const char* name, int64_t kb, int64_t alloc_ns, int64_t release_ns) {
    rank.store.allocations.Append({.name = rank.Text(name),
                                   .size_bytes = kb * 1024,
                                   .alloc_ns = alloc_ns,
                                   .release_ns = release_ns});
  };
  rank.Slice(rank.host, 0, 100, "ProfilerStep#1", "user_annotation");
  rank.Slice(rank.host, 100, 200, "ProfilerStep#2", "user_annotation");
  rank.Slice(rank.host, 200, 300, "ProfilerStep#3", "user_annotation");
  for (int64_t step = 0; step < 3; ++step) {
    rank.Step(step + 1, step * 100, step * 100 + 100);
    block("leak", 4, step * 100 + 10, store::kNone);
    block("work", 100, step * 100 + 20, step * 100 + 90);
    block("carried", 50, step * 100 + 30, step * 100 + 130);  // as much at the end of every step
  }
  block("state", 7, 5, store::kNone);
  const store::Job job = JobOf(rank);
  const table::Table leaks = TableOf(job, "memory_growth", "leak_candidates");
  ASSERT_EQ(leaks.rows(), 1u);
  EXPECT_EQ(leaks.Find("Name")->texts[0], "leak");
  EXPECT_EQ(Cell(leaks, "growth_per_step_kb", 0), 4);
  EXPECT_EQ(Cell(leaks, "held_first_kb", 0), 4);
  EXPECT_EQ(Cell(leaks, "held_last_kb", 0), 12);
  const table::Table steps = TableOf(job, "memory_growth", "memory_growth");
  ASSERT_EQ(steps.rows(), 3u);
  EXPECT_EQ(Cell(steps, "allocated_kb", 0), 161);
  EXPECT_EQ(Cell(steps, "released_kb", 1), 150);
  EXPECT_EQ(Cell(steps, "held_kb", 2), 12 + 50 + 7);
}

TEST(KernelPlaces, AKernelStandsWhereItsOperatorDoesAndItsForwardOperatorDid) {
  TestRank rank;
  const store::TrackId autograd = rank.ThreadOf("Python", "Thread 2");
  rank.Slice(rank.host, 0, 100, "train.py(7): step", "python_function");
  rank.Slice(rank.host, 1, 90, "nn.Module: Linear_0", "python_function");
  rank.Slice(rank.host, 2, 80, "torch/nn/modules/linear.py(114): forward", "python_function");
  rank.Slice(rank.host, 10, 20, "aten::linear", "cpu_op");
  rank.Slice(autograd, 200, 220, "AddmmBackward0", "cpu_op");
  const store::SliceId noted = rank.Slice(autograd, 230, 240, "aten::mul", "cpu_op");
  rank.store.host_ops.Append(
      {.slice = noted,
       .call_stack = rank.Text("/usr/lib/python3/dist-packages/torch/x.py(1): f; my.py(2): g")});
  rank.Flow("fwdbwd", rank.host, 10, autograd, 200);
  rank.Task("MatMul", "MatMul", 300, 310);
  rank.Task("MatMulGrad", "MatMul", 320, 330);
  rank.Task("Mul", "Mul", 340, 350);
  rank.Task("Free", "Free", 360, 370);
  rank.Flow("async_npu", rank.host, 10, rank.stream, 300);
  rank.Flow("async_npu", autograd, 200, rank.stream, 320);
  rank.Flow("async_npu", autograd, 230, rank.stream, 340);
  const store::Job job = JobOf(rank);
  const table::Table table = TableOf(job, "kernel_places", "kernel_places");
  ASSERT_EQ(table.rows(), 4u);
  EXPECT_EQ(
      table.Find("python")->texts,
      (std::vector<std::string>{"train.py(7): step", "train.py(7): step", "my.py(2): g", ""}));
  EXPECT_NE(table.Find("module")->texts[0].find("Linear_0"), std::string::npos);
  EXPECT_NE(table.Find("module")->texts[1].find("[Backward]"), std::string::npos);
  EXPECT_EQ(table.Find("module")->texts[3], "");
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
