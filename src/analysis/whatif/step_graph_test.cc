#include "analysis/whatif/step_graph.h"

#include <gtest/gtest.h>

#include "analysis/whatif/test_step.h"

namespace steplens::analysis {
namespace {

// Host: 10 launch .. 14, sync 20..62, then Python until 80. Kernel 16..60.
TestStep LaunchAndSync() {
  TestStep step(80);
  step.Launch(10, 14, step.stream, 16, 60);
  step.Call("cudaDeviceSynchronize", 20, 62);
  return step;
}

TEST(StepGraph, GivesTheMeasuredStepBack) {
  TestStep step = LaunchAndSync();
  const TestReplay replay(step);
  EXPECT_EQ(replay.MeasuredUs(), 80);
  EXPECT_EQ(replay.ReplayedUs(), 80);
  EXPECT_DOUBLE_EQ(replay.replay.error_percent(), 0);
  EXPECT_EQ(replay.replay.graph().steps(), 1u);
}

TEST(StepGraph, ASynchronisingCallEndsWithItsTask) {
  TestStep step = LaunchAndSync();
  const TestReplay replay(step);
  // The kernel ends at 38 instead of 60, and all after it comes 22 earlier.
  EXPECT_EQ(replay.Us({.scale = {"kernel=0.5"}}), 58);
  // However short the kernel is, the call costs 2, and the host needs 20 + 2 + 18.
  EXPECT_EQ(replay.Us({.remove = {"kernel"}}), 40);
  EXPECT_EQ(replay.Us({.remove = {"sync"}}), 60);  // the kernel ends last
}

TEST(StepGraph, ATaskStartsAfterItsLaunch) {
  TestStep step = LaunchAndSync();
  const TestReplay replay(step);
  // Twice as fast: the launch returns at 7, the kernel runs 9..53, the sync ends at 55, then 9.
  EXPECT_EQ(replay.Us({.host = "2x"}), 64);
}

TEST(StepGraph, TasksOfAStreamFollowEachOther) {
  TestStep step(100);
  step.Launch(10, 12, step.stream, 15, 40);
  step.Launch(12, 14, step.stream, 41, 90, "norm");
  step.Call("cudaDeviceSynchronize", 20, 92);
  const TestReplay replay(step);
  EXPECT_EQ(replay.ReplayedUs(), 100);
  EXPECT_EQ(replay.Us({.scale = {"kernel:gemm=0.2"}}), 80);
  EXPECT_EQ(replay.Us({.scale = {"kernel:ge?m=0.2", "kernel:norm=0"}}), 31);  // both together
}

TEST(StepGraph, ShorterWorkBesideTheCriticalPathSavesNothing) {
  TestStep step(100);
  step.Launch(10, 12, step.stream, 15, 90);
  step.Launch(12, 14, step.stream2, 17, 60, "side");
  step.Call("cudaDeviceSynchronize", 20, 92);
  const TestReplay replay(step);
  EXPECT_EQ(replay.Us({.scale = {"kernel:side=0.1"}}), 100);
  // Without the other one it ends last: 60, and the call takes 2 to return.
  EXPECT_EQ(replay.Us({.scale = {"kernel:gemm=0.1"}}), 70);
}

TEST(StepGraph, AStreamWaitsForTheEventOfAnother) {
  TestStep step(120);
  step.Launch(10, 12, step.stream, 15, 50);
  step.Call("cudaEventRecord", 12, 13);
  step.Call("cudaStreamWaitEvent", 13, 14);
  step.Launch(14, 16, step.stream2, 51, 100, "after");
  step.Call("cudaDeviceSynchronize", 20, 102);
  const TestReplay replay(step);
  EXPECT_EQ(replay.ReplayedUs(), 120);
  // It was launched at 16, and a launch takes 3 to reach the device: 19..68.
  EXPECT_EQ(replay.Us({.scale = {"kernel:gemm=0"}}), 88);
}

TEST(StepGraph, ATaskThatStartsWhenAnotherEndsWaitedForIt) {
  TestStep step(200);
  step.Launch(10, 12, step.stream, 15, 120);
  step.Launch(14, 16, step.stream2, 121, 180, "after");
  step.Call("cudaDeviceSynchronize", 20, 182);
  const TestReplay replay(step);
  EXPECT_DOUBLE_EQ(replay.replay.error_percent(), 0);
  EXPECT_EQ(replay.Us({.scale = {"kernel:gemm=0.2"}}), 116);
}

TEST(StepGraph, AGapThatNothingExplainsIsReported) {
  TestStep step(1000);
  step.Launch(10, 12, step.stream, 15, 20);
  step.Launch(14, 16, step.stream, 500, 900, "late");
  step.Call("cudaDeviceSynchronize", 20, 902);
  const TestReplay replay(step);
  // It was launched at 16 and could start at 20; a device takes 100 us at most.
  EXPECT_EQ(replay.replay.explained_ns(), 620'000);
  EXPECT_NEAR(replay.replay.error_percent(), 38.0, 1e-9);
  EXPECT_FALSE(replay.replay.is_trusted());
  EXPECT_EQ(replay.PathUs(PathClass::kIdle), 380);
  EXPECT_EQ(replay.Us({.remove = {"idle"}}), 620);
  EXPECT_EQ(ReplayWarnings(replay.replay).size(), 1u);
}

TEST(StepGraph, ABlockingCopyHoldsItsCallUp) {
  TestStep step(100);
  step.Launch(10, 60, step.stream, 15, 58, "Memcpy DtoH", "gpu_memcpy");
  const TestReplay replay(step);
  EXPECT_EQ(replay.ReplayedUs(), 100);
  // The copy ends at 15, the call 2 later, and 40 of Python follow.
  EXPECT_EQ(replay.Us({.remove = {"copy"}}), 57);
}

TEST(StepGraph, AWorkerThreadIsWokenAndJoined) {
  TestStep step(500);
  // The backward pass runs on a thread of its own, 105..395, while the main thread waits 100..400.
  const auto worker = step.ThreadOf("python", "thread 2");
  step.Host("run_backward", 100, 400, "python_function");
  step.Slice(worker, 105'000, 395'000, "autograd::engine::evaluate_function", "cpu_op");
  const TestReplay replay(step);
  EXPECT_EQ(replay.ReplayedUs(), 500);
  EXPECT_EQ(replay.Us({.scale = {"host:autograd*=0.5"}}), 355);
}

TEST(StepGraph, WhatAQueueHandsOverComesAfterwards) {
  StoreBuilder rank;
  rank.Step(1, 0, 300'000);
  const auto python = rank.Process("Python", "CPU");
  const auto main = rank.Thread(python, "Thread 1");
  const auto queue = rank.Thread(python, "Thread 2");
  const auto stream = rank.ThreadOf("Ascend Hardware", "Stream 2");
  rank.Slice(main, 0, 300'000, "ProfilerStep#1", "cpu_op");
  rank.Slice(main, 100'000, 110'000, "Enqueue@add", "enqueue");
  rank.Slice(queue, 120'000, 140'000, "Dequeue@add", "dequeue");
  rank.Flow("async_task_queue", main, 100'000, queue, 120'000);
  rank.Slice(stream, 150'000, 290'000, "Add", "AI_CORE");
  rank.Flow("async_npu", queue, 120'000, stream, 150'000);
  const TestReplay replay(rank.Job());
  EXPECT_EQ(replay.ReplayedUs(), 300);
  // What the main thread does before the queue takes 55 instead of 110; the task ends 55 earlier,
  // and last.
  EXPECT_EQ(replay.Us({.host = "2x"}), 235);
}

// Two ranks meet in a collective: rank 0 comes at 100, rank 1 at 300; it takes 50.
store::Job Meeting() {
  store::Job job;
  for (int64_t rank = 0; rank < 2; ++rank) {
    TestStep step(400, rank);
    const int64_t busy_until = rank == 0 ? 100 : 300;
    step.Launch(10, 12, step.stream, 15, busy_until);
    step.Launch(14, 16, step.stream2, busy_until, 350, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
    step.CommOp("ncclDevKernel_AllReduce_Sum_f32_RING_LL", busy_until * 1000, 350'000,
                step.stream2);
    step.Call("cudaDeviceSynchronize", 20, 352);
    job.ranks.push_back(std::move(step.store));
  }
  return job;
}

TEST(StepGraph, RanksMeetInACollective) {
  const TestReplay replay(Meeting());
  EXPECT_EQ(replay.MeasuredUs(), 400);
  EXPECT_EQ(replay.ReplayedUs(), 400);
  EXPECT_EQ(replay.Us({.scale = {"kernel@0=0.1"}}), 400);  // it waits anyway
  EXPECT_EQ(replay.Us({.network = "2x"}), 375);
  // Rank 1 is ready at 15 + 142.5, then 50 and 50 to the end.
  EXPECT_EQ(replay.Us({.scale = {"kernel@1=0.5"}}), 257);
  // Both compute 185 instead of 85 and 285.
  EXPECT_EQ(replay.Us({.balance = "ranks"}), 300);
}

TEST(StepGraph, ALateRankWorksAsLongAsTheOthers) {
  const TestReplay replay(Meeting());
  Edit level{.action = Edit::Action::kBalance};
  level.ranks = {1};
  // Its kernel takes 85 instead of 285; what its host does is the same on both.
  EXPECT_EQ(replay.replay.Run(std::span(&level, 1)).window_ns, 200'000);
  level.ranks = {0, 1};  // nobody is left to compare with
  EXPECT_EQ(replay.replay.Run(std::span(&level, 1)).changed_edges, 0u);
}

TEST(StepGraph, TheCriticalPathCrossesRanks) {
  const TestReplay replay(Meeting());
  EXPECT_EQ(replay.PathUs(PathClass::kCompute), 285);
  EXPECT_EQ(replay.PathUs(PathClass::kTransfer), 50);
  EXPECT_EQ(replay.PathUs(PathClass::kRankWait), 0);
}

TEST(StepGraph, OneRankAloneWaitsAsRecorded) {
  store::Job job = Meeting();
  const std::vector<RankView> ranks = ViewsOf(job, {.rank = 0, .step = {}});
  const StepReplay replay(job, ranks, std::nullopt);
  // The other rank was captured, so that its arrival says how long this one waited: 200.
  EXPECT_EQ(replay.path().class_ns[static_cast<size_t>(PathClass::kRankWait)], 200'000);
  const std::vector<Edit> edits = *ParseEdits({.remove = {"wait"}});
  EXPECT_EQ(replay.Run(edits).window_ns, 200'000);
}

TEST(StepGraph, OverlappedCommunicationDoesNotHoldComputingUp) {
  TestStep step(400);
  step.Launch(10, 12, step.stream, 15, 100);
  step.Launch(12, 13, step.stream2, 101, 201, "ncclDevKernel_AllReduce");
  step.CommOp("ncclDevKernel_AllReduce", 101'000, 201'000, step.stream2);
  step.Launch(14, 16, step.stream, 202, 382, "optimizer");
  step.Call("cudaDeviceSynchronize", 20, 384);
  const TestReplay replay(step);
  EXPECT_EQ(replay.ReplayedUs(), 400);
  // Computing ends at 100 + 180 or so; the collective cannot end before 201.
  const int64_t overlapped_us = replay.Us({.overlap = {"comm"}});
  EXPECT_GE(overlapped_us, 298);
  EXPECT_LE(overlapped_us, 300);
}

TEST(StepGraph, ABoundIsNeverBelowTheSaving) {
  TestStep step = LaunchAndSync();
  const TestReplay replay(step);
  for (const Edit& edit : UsualEdits()) {
    const StepReplay::Outcome outcome = replay.replay.Run(std::span(&edit, 1));
    EXPECT_GE(outcome.bound_ns, outcome.saving_ns) << edit.text;
    EXPECT_LE(outcome.bound_ns, replay.replay.measured_ns()) << edit.text;
  }
}

TEST(StepGraph, AnEmptyRankHasAnEmptyGraph) {
  store::Job job;
  job.ranks.emplace_back();
  const TestReplay replay(std::move(job));
  EXPECT_EQ(replay.MeasuredUs(), 0);
  EXPECT_TRUE(replay.replay.path().pieces.empty());
  EXPECT_EQ(ReplayWarnings(replay.replay).front().key, "whatif.empty");
}

TEST(StepGraph, SlackSaysHowMuchLongerANodeCouldTake) {
  TestStep step(100);
  step.Launch(10, 12, step.stream, 15, 90);
  step.Launch(12, 14, step.stream2, 17, 60, "side");
  step.Call("cudaDeviceSynchronize", 20, 92);
  const TestReplay replay(step);
  const StepGraph& graph = replay.replay.graph();
  const std::vector<int64_t> slack = SlackOf(graph, graph.weight_ns, replay.replay.at());
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (graph.nodes[n].kind != NodeKind::kCompute) continue;
    const bool is_side = graph.lanes[graph.nodes[n].lane].track == step.stream2;
    EXPECT_EQ(slack[n], is_side ? 30'000 : 0);
  }
}

}  // namespace
}  // namespace steplens::analysis
