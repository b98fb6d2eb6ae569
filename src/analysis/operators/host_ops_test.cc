#include "analysis/operators/host_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "analysis/operators/operator_tables.h"
#include "analysis/testing/store_builder.h"

namespace steplens::analysis {
namespace {

using store::kNoSlice;
using store::SliceId;
using store::TrackId;
using testing::ElementsAre;

// aten::linear with aten::addmm inside, which launches one kernel; aten::copy_ on another thread.
StoreBuilder SmallTree() {
  StoreBuilder b;
  const TrackId main = b.ThreadOf("Python", "Thread 1");
  const TrackId backward = b.ThreadOf("Python", "Thread 2");
  const TrackId stream = b.ThreadOf("Ascend Hardware", "Stream 2");
  const SliceId addmm = b.Slice(main, 20, 50, "aten::addmm", "cpu_op");
  b.Slice(main, 0, 10, "module.py(1): forward", "python_function");
  b.Slice(main, 10, 60, "aten::linear", "cpu_op");
  b.Slice(backward, 30, 40, "aten::copy_", "cpu_op");
  b.Slice(main, 0, 1000, "ProfilerStep#3", "cpu_op");
  b.Shapes(addmm, "4;4,8");
  b.Step(3, 0, 1000);
  b.Slice(stream, 100, 107, "MatMul", "AI_CORE");
  b.Slice(stream, 107, 109, "MEMCPY_ASYNC", "SDMA_SQE");
  b.Flow("async_npu", main, 20, stream, 100);
  b.Flow("async_npu", main, 10, stream, 107);
  return b;
}

TEST(ComputeHostOps, MeasuresHostAndDeviceTimeOfEachOperator) {
  const StoreBuilder b = SmallTree();
  const HostOps result = ComputeHostOps(b.store);
  ASSERT_EQ(result.ops.size(), 4u);
  EXPECT_TRUE(result.knows_aicore);
  const HostOp& linear = result.ops[1];
  EXPECT_EQ(linear.host_total_ns, 50);
  EXPECT_EQ(linear.host_self_ns, 20);
  EXPECT_EQ(linear.device_self_ns, 2);
  EXPECT_EQ(linear.device_total_ns, 9);
  EXPECT_EQ(linear.device_self_aicore_ns, 0);
  EXPECT_EQ(linear.device_total_aicore_ns, 7);
  const HostOp& addmm = result.ops[2];
  EXPECT_EQ(addmm.parent, linear.slice);
  EXPECT_EQ(addmm.device_self_ns, 7);
  EXPECT_EQ(b.store.Text(b.store.host_ops.input_shapes[addmm.detail]), "4;4,8");
}

TEST(ComputeHostOps, OtherThreadsAreNoChildren) {
  const HostOps result = ComputeHostOps(SmallTree().store);
  EXPECT_EQ(result.ops[3].parent, kNoSlice);
  EXPECT_EQ(result.ops[0].host_self_ns, 950);
}

TEST(ComputeHostOps, GpuWorkBelongsToTheInnermostOperatorAroundTheCall) {
  StoreBuilder b;
  const TrackId host = b.ThreadOf("python", "thread 1");
  const TrackId stream = b.ThreadOf("python", "stream 7");
  b.Slice(host, 0, 100, "aten::matmul", "cpu_op");
  b.Slice(host, 10, 90, "aten::mm", "cpu_op");
  b.Slice(host, 20, 30, "cudaLaunchKernel", "cuda_runtime", 5);
  b.Slice(stream, 200, 240, "gemm", "kernel", 5);
  const HostOps result = ComputeHostOps(b.store);
  EXPECT_EQ(result.ops[0].device_self_ns, 0);
  EXPECT_EQ(result.ops[0].device_total_ns, 40);
  EXPECT_EQ(result.ops[1].device_self_ns, 40);
}

TEST(OperatorDetails, LeavesOutProfilerStepAndKeepsStartOrder) {
  const table::Table table = OperatorDetails(SmallTree().Job(), {});
  EXPECT_THAT(table.Find("Name")->texts, ElementsAre("aten::linear", "aten::addmm", "aten::copy_"));
  EXPECT_THAT(table.Find("Input Shapes")->texts, ElementsAre("", "4;4,8", ""));
  EXPECT_THAT(table.Find("Device Total Duration With AICore(us)")->ints, ElementsAre(7, 7, 0));
}

TEST(OperatorDetails, AiCoreCellsAreEmptyWhereTaskTypesAreNotKnown) {
  StoreBuilder b = SmallTree();
  for (size_t i = 0; i < b.store.slices.size(); ++i) {
    if (b.store.Text(b.store.slices.category[i]) == "cpu_op") continue;
    b.store.slices.category.Set(i, StringId::kEmpty);
  }
  const table::Table table = OperatorDetails(b.Job(), {});
  EXPECT_EQ(table.Find("Device Self Duration With AICore(us)")->ints[0], table::kNull);
}

TEST(OperatorDetails, DriverTaskTypesCountExceptForMixedKernels) {
  StoreBuilder b;
  const TrackId main = b.ThreadOf("Python", "Thread 1");
  const TrackId stream = b.ThreadOf("Ascend Hardware", "Stream 2");
  b.Slice(main, 0, 10, "aten::mm", "cpu_op");
  const auto launch = [&](int64_t begin_ns, const char* name, const char* type) {
    b.Slice(stream, begin_ns, begin_ns + 1, name, type);
    b.Flow("async_npu", main, 0, stream, begin_ns);
  };
  launch(100, "Cube", "KERNEL_AICORE");
  launch(200, "Vector", "KERNEL_AIVEC");
  launch(300, "MixedByCore", "KERNEL_AICORE");
  launch(400, "MixedByContext", "KERNEL_AICORE");
  b.Kernel("Cube", "", "AI_CORE", 100, 101);
  b.Kernel("MixedByCore", "", "MIX_AIV", 300, 301);
  b.Kernel("MixedByContext", "", "", 400, 401);
  b.store.kernels.context_id.Set(2, 0);
  const HostOps result = ComputeHostOps(b.store);
  EXPECT_EQ(result.ops[0].device_self_ns, 4);
  EXPECT_EQ(result.ops[0].device_self_aicore_ns, 2);
}

TEST(OperatorDetails, StepSelectsByHostRange) {
  StoreBuilder b = SmallTree();
  b.Slice(static_cast<TrackId>(1), 1500, 1600, "aten::late", "cpu_op");
  const store::Job job = b.Job();
  EXPECT_EQ(OperatorDetails(job, {}).rows(), 4u);
  EXPECT_EQ(OperatorDetails(job, {.rank = {}, .step = 3}).rows(), 3u);
  EXPECT_EQ(OperatorDetails(job, {.rank = 9, .step = {}}).rows(), 0u);
}

TEST(OperatorTree, NamesParentsBySlice) {
  const table::Table table = OperatorTree(SmallTree().Job(), {});
  EXPECT_THAT(table.Find("Slice Id")->ints, ElementsAre(2, 0, 3));
  EXPECT_THAT(table.Find("Parent Slice Id")->ints, ElementsAre(4, 2, table::kNull));
}

TEST(HostOpStatistics, AddsUpByNameOnEachRank) {
  store::Job job = SmallTree().Job();
  job.ranks.push_back(std::move(SmallTree().store));
  job.ranks.back().info.rank = 7;
  const table::Table table = HostOpStatistics(job, {});
  const int64_t first = job.ranks.front().info.rank;
  EXPECT_THAT(table.Find("Rank")->ints, ElementsAre(first, first, first, 7, 7, 7));
  EXPECT_THAT(table.Find("Name")->texts, ElementsAre("aten::addmm", "aten::linear", "aten::copy_",
                                                     "aten::addmm", "aten::linear", "aten::copy_"));
  EXPECT_THAT(table.Find("Count")->ints, ElementsAre(1, 1, 1, 1, 1, 1));
  EXPECT_THAT(table.Find("Host Self Duration(us)")->ints, ElementsAre(30, 20, 10, 30, 20, 10));
  EXPECT_THAT(table.Find("Device Total Duration(us)")->ints, ElementsAre(7, 9, 0, 7, 9, 0));
}

// An operator with its sequence number and the thread of its forward operator.
SliceId Recorded(StoreBuilder& b, TrackId track, int64_t begin_ns, int64_t end_ns,
                 std::string_view name, int64_t sequence_number, int64_t fwd_thread = 0) {
  const SliceId slice = b.Slice(track, begin_ns, end_ns, name, "cpu_op");
  b.store.host_ops.Append(
      {.slice = slice, .sequence_number = sequence_number, .fwd_thread = fwd_thread});
  return slice;
}

std::vector<std::pair<std::string, std::string>> Passes(const StoreBuilder& b) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const HostOp& op : ComputeHostOps(b.store).ops)
    out.emplace_back(b.store.Text(b.store.slices.name[static_cast<size_t>(op.slice)]),
                     PassName(op.pass));
  return out;
}

TEST(ComputeHostOps, TellsForwardBackwardAndRecomputedOperatorsApart) {
  StoreBuilder b;
  const TrackId main = b.ThreadOf("python", "thread 1");
  const TrackId engine = b.ThreadOf("python", "thread 2");
  Recorded(b, main, 0, 10, "aten::linear", 5);
  Recorded(b, main, 2, 8, "aten::addmm", -1);
  b.Slice(main, 20, 30, "Optimizer.step#SGD.step", "cpu_op");
  Recorded(b, engine, 100, 200, "autograd::engine::evaluate_function: AddmmBackward0", -1);
  Recorded(b, engine, 110, 190, "AddmmBackward0", 5, 1);
  Recorded(b, engine, 120, 140, "aten::relu", 9);  // saved by nobody: computed again
  Recorded(b, engine, 125, 130, "aten::clamp_min", -1);
  Recorded(b, engine, 150, 160, "aten::mm", -1);
  using Pair = std::pair<std::string, std::string>;
  EXPECT_THAT(Passes(b),
              ElementsAre(Pair("aten::linear", "forward"), Pair("aten::addmm", "forward"),
                          Pair("Optimizer.step#SGD.step", ""),
                          Pair("autograd::engine::evaluate_function: AddmmBackward0", "backward"),
                          Pair("AddmmBackward0", "backward"), Pair("aten::relu", "recomputed"),
                          Pair("aten::clamp_min", "recomputed"), Pair("aten::mm", "backward")));
}

TEST(ComputeHostOps, ACheckpointRunsItsForwardAgainAndThenItsBackward) {
  StoreBuilder b;
  const TrackId engine = b.ThreadOf("python", "thread 2");
  Recorded(b, engine, 0, 100, "CheckpointFunctionBackward", 5, 1);
  Recorded(b, engine, 10, 20, "aten::mul", -1);  // a capture without sequence numbers
  Recorded(b, engine, 30, 60, "autograd::engine::evaluate_function: MulBackward0", -1);
  Recorded(b, engine, 40, 50, "aten::mul", -1);
  using Pair = std::pair<std::string, std::string>;
  EXPECT_THAT(
      Passes(b),
      ElementsAre(Pair("CheckpointFunctionBackward", "backward"), Pair("aten::mul", "recomputed"),
                  Pair("autograd::engine::evaluate_function: MulBackward0", "backward"),
                  Pair("aten::mul", "backward")));
}

// A replay of two kernels, of 10 and 20 ns, whose launch call begins at 50 ns.
StoreBuilder GraphReplay() {
  StoreBuilder b;
  const TrackId host = b.ThreadOf("python", "thread 1");
  const TrackId stream = b.ThreadOf("python", "stream 7");
  b.Slice(host, 0, 100, "ProfilerStep#3", "cpu_op");
  b.Slice(host, 50, 60, "cudaGraphLaunch", "cuda_runtime", 8);
  b.Slice(stream, 70, 80, "gemm", "kernel", 8);
  b.Slice(stream, 80, 100, "relu", "kernel", 8);
  return b;
}

TEST(ComputeHostOps, KernelsOfAReplayBelongToTheOperatorAroundTheLaunch) {
  StoreBuilder b = GraphReplay();
  b.Slice(TrackId{1}, 40, 55, "CompiledFunction", "cpu_op");  // ends before the call does
  const HostOps result = ComputeHostOps(b.store);
  ASSERT_EQ(result.ops.size(), 2u);
  EXPECT_EQ(result.ops[1].device_self_ns, 30);
}

TEST(ComputeHostOps, KernelsOfAReplayOutsideOfOperatorsBelongToItsLaunch) {
  const HostOps result = ComputeHostOps(GraphReplay().store);
  ASSERT_EQ(result.ops.size(), 2u);
  EXPECT_EQ(result.ops[1].slice, SliceId{1});
  EXPECT_EQ(result.ops[1].parent, SliceId{0});
  EXPECT_EQ(result.ops[1].host_total_ns, 10);
  EXPECT_EQ(result.ops[1].device_self_ns, 30);
  EXPECT_EQ(result.ops[0].device_self_ns, 0);
  EXPECT_EQ(result.ops[0].device_total_ns, 30);
}

// A capture: aten::mm records a kernel, aten::add a copy and a kernel; none of them runs then.
// Replays begin at `replays_ns`, each runs 10 ns of gemm, 5 of a copy and 20 of add.
StoreBuilder CaptureAndReplays(const std::vector<int64_t>& replays_ns) {
  StoreBuilder b;
  const TrackId host = b.ThreadOf("python", "thread 1");
  const TrackId stream = b.ThreadOf("python", "stream 7");
  b.Slice(host, 0, 5, "cudaStreamBeginCapture", "cuda_runtime", 1);
  b.Slice(host, 10, 20, "aten::mm", "cpu_op");
  b.Slice(host, 12, 14, "cudaLaunchKernel", "cuda_runtime", 2);
  b.Slice(host, 20, 40, "aten::add", "cpu_op");
  b.Slice(host, 22, 24, "cudaMemcpyAsync", "cuda_runtime", 3);
  b.Slice(host, 30, 34, "cudaLaunchKernel", "cuda_runtime", 4);
  b.Slice(host, 31, 33, "cuLaunchKernel", "cuda_driver", 4);
  b.Slice(host, 40, 45, "cudaStreamEndCapture", "cuda_runtime", 5);
  int64_t correlation = 10;
  for (const int64_t at_ns : replays_ns) {
    b.Slice(host, at_ns, at_ns + 10, "cudaGraphLaunch", "cuda_runtime", correlation);
    b.Slice(stream, at_ns + 20, at_ns + 30, "gemm", "kernel", correlation);
    b.Slice(stream, at_ns + 30, at_ns + 35, "Memcpy DtoD", "gpu_memcpy", correlation);
    b.Slice(stream, at_ns + 40, at_ns + 60, "add", "kernel", correlation++);
  }
  return b;
}

std::map<std::string, int64_t> DeviceTimes(const StoreBuilder& b) {
  std::map<std::string, int64_t> out;
  for (const HostOp& op : ComputeHostOps(b.store).ops)
    out[std::string(b.store.Text(b.store.slices.name[static_cast<size_t>(op.slice)]))] +=
        op.device_self_ns;
  return out;
}

TEST(ComputeHostOps, KernelsOfAReplayBelongToTheOperatorsOfTheCapture) {
  EXPECT_THAT(DeviceTimes(CaptureAndReplays({100, 200})),
              ElementsAre(testing::Pair("aten::add", 50), testing::Pair("aten::mm", 20),
                          testing::Pair("cudaGraphLaunch", 0)));
}

TEST(ComputeHostOps, WhatMayBeAnotherGraphBelongsToItsLaunch) {
  // The same kinds of work, but other kernels.
  StoreBuilder other = CaptureAndReplays({100, 200});
  other.store.slices.name.Set(other.store.slices.size() - 1, other.Text("mul"));
  EXPECT_THAT(DeviceTimes(other),
              ElementsAre(testing::Pair("aten::add", 0), testing::Pair("aten::mm", 0),
                          testing::Pair("cudaGraphLaunch", 70)));
  // A replay that is older than the capture.
  EXPECT_EQ(DeviceTimes(CaptureAndReplays({-200, 100}))["cudaGraphLaunch"], 70);
  // Fewer kernels than were recorded.
  StoreBuilder fewer = CaptureAndReplays({100});
  fewer.Slice(TrackId{1}, 35, 36, "cudaLaunchKernel", "cuda_runtime", 6);
  EXPECT_EQ(DeviceTimes(fewer)["cudaGraphLaunch"], 35);
  // Work that ran at once has no order.
  StoreBuilder parallel = CaptureAndReplays({100});
  parallel.store.slices.dur_ns.Set(parallel.store.slices.size() - 3, 11);
  EXPECT_EQ(DeviceTimes(parallel)["cudaGraphLaunch"], 36);
}

// An ACL graph: the arrows of a replay begin at the operator that was recorded.
TEST(ComputeHostOps, KernelsOfAnAclGraphBelongToTheOperatorsOfTheCapture) {
  StoreBuilder b;
  const TrackId host = b.ThreadOf("Python", "Thread 1");
  const TrackId stream = b.ThreadOf("Ascend Hardware", "Stream 2");
  b.Slice(host, 10, 20, "aten::mm", "cpu_op");
  b.Slice(host, 30, 40, "replay", "cpu_op");
  for (const int64_t at_ns : {100, 200}) {
    b.Slice(stream, at_ns, at_ns + 15, "MatMulV2", "AI_CORE");
    b.Flow("async_npu", host, 10, stream, at_ns);
  }
  EXPECT_THAT(DeviceTimes(b),
              ElementsAre(testing::Pair("aten::mm", 30), testing::Pair("replay", 0)));
}

TEST(HostOpStatistics, CanTellPassesApart) {
  StoreBuilder b;
  const TrackId main = b.ThreadOf("python", "thread 1");
  const TrackId engine = b.ThreadOf("python", "thread 2");
  Recorded(b, main, 0, 10, "aten::relu", 5);
  Recorded(b, engine, 20, 60, "ReluBackward0", 5, 1);
  Recorded(b, engine, 30, 42, "aten::relu", 9);
  const store::Job job = b.Job();
  EXPECT_THAT(HostOpStatistics(job, {}).Find("Name")->texts,
              ElementsAre("ReluBackward0", "aten::relu"));
  const table::Table by_pass = HostOpStatistics(job, {}, true);
  EXPECT_THAT(by_pass.Find("Name")->texts,
              ElementsAre("ReluBackward0", "aten::relu", "aten::relu"));
  EXPECT_THAT(by_pass.Find("Pass")->texts, ElementsAre("backward", "recomputed", "forward"));
  EXPECT_THAT(by_pass.Find("Host Self Duration(us)")->ints, ElementsAre(28, 12, 10));
  EXPECT_THAT(OperatorTree(job, {}).Find("Pass")->texts,
              ElementsAre("forward", "backward", "recomputed"));
}

}  // namespace
}  // namespace steplens::analysis
