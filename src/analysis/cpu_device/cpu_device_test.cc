#include "analysis/cpu_device/cpu_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/breakdown/breakdown.h"
#include "analysis/classify/device_work.h"
#include "analysis/communication/communication.h"
#include "analysis/cpu_device/complete.h"
#include "analysis/cpu_device/host_collectives.h"
#include "analysis/cpu_device/memory_rows.h"
#include "analysis/cpu_device/op_roles.h"
#include "analysis/cpu_device/operator_links.h"
#include "analysis/operators/host_ops.h"
#include "analysis/testing/store_builder.h"

namespace steplens::analysis {
namespace {

using store::kNone;
using testing::ElementsAre;

std::vector<int64_t> Values(const store::Column<int64_t>& column) {
  return {column.begin(), column.end()};
}

class RawStore : public StoreBuilder {
 public:
  RawStore() {
    store.info.rank = 3;
    python_ = Process("Python", "CPU", "5");
    main_ = Thread(7);
  }
  store::TrackId Thread(int64_t tid) {
    store.tracks.Append({.parent = python_,
                         .kind = Text("thread"),
                         .pid = Text("5"),
                         .tid = Text(std::to_string(tid)),
                         .name = Text("Thread " + std::to_string(tid))});
    return static_cast<store::TrackId>(store.tracks.size() - 1);
  }
  store::SliceId Op(int64_t begin_ns, int64_t end_ns, std::string_view name, uint32_t scope = 0) {
    return OpOn(main_, begin_ns, end_ns, name, scope);
  }
  store::SliceId OpOn(store::TrackId track, int64_t begin_ns, int64_t end_ns, std::string_view name,
                      uint32_t scope = 0) {
    const store::SliceId slice = Slice(track, begin_ns, end_ns, name, "cpu_op");
    store.host_ops.Append({.slice = slice, .input_shapes = Text("2,3"), .scope = scope});
    return slice;
  }
  void Collective(store::SliceId slice, std::string_view group, std::string_view kind,
                  std::string_view peer = "", std::string_view ranks = "0,1") {
    if (store.sheets.empty()) {
      store::DynamicTable& sheet = store.sheets.emplace_back();
      sheet.name = "framework_collectives";
      sheet.columns.resize(8);
    }
    auto& columns = store.sheets.front().columns;
    columns[0].numbers.Append(static_cast<double>(slice));
    const std::string_view cells[] = {group, "4096", "1024", "float", ranks, kind, peer};
    for (size_t i = 0; i < 7; ++i) columns[i + 1].texts.Append(Text(cells[i]));
  }
  store::TrackId main_track() const { return main_; }

  std::vector<std::string> KernelNames() const {
    std::vector<std::string> out;
    for (const StringId name : store.kernels.name) out.emplace_back(store.Text(name));
    return out;
  }

 private:
  store::TrackId python_;
  store::TrackId main_;
};

TEST(AppendCpuDevice, MakesKernelsOfOperatorsThatComputeAndCallNoOtherThatDoes) {
  RawStore raw;
  raw.Op(12, 14, "aten::expand");  // a view
  raw.Op(14, 20, "aten::copy_");   // inside addmm: a part of it
  raw.Op(10, 30, "aten::addmm");   // inside linear
  raw.Op(0, 39, "aten::linear");   // hands on to addmm
  raw.Op(60, 60, "aten::view");    // no work
  raw.Op(62, 63, "aten::empty");   // nor this
  raw.Op(64, 66, "aten::fill_");   // inside zeros: the innermost fill
  raw.Op(61, 67, "aten::zeros");
  raw.Op(70, 80, "my range", 7);  // of the user
  raw.Op(95, 99, "aten::relu");   // inside a user range and a step: still a kernel
  raw.Op(90, 100, "another", 7);
  raw.Op(101, 102, "AddBackward0", 1);   // a node that does nothing by itself
  raw.Op(103, 104, "MyOwnBackward", 1);  // one that a user wrote, and whose work nothing shows
  raw.Op(106, 107, "aten::mul");
  raw.Op(105, 108, "MulBackward0", 1);
  raw.Op(105, 109, "autograd::engine::evaluate_function: MulBackward0");
  raw.Op(0, 200, "ProfilerStep#1", 7);
  AppendCpuDevice(raw.store);
  EXPECT_THAT(raw.KernelNames(), ElementsAre("aten::addmm", "aten::fill_", "aten::relu",
                                             "MyOwnBackward", "aten::mul"));
  EXPECT_EQ(raw.store.Text(raw.store.kernels.type[0]), "addmm");
  EXPECT_EQ(raw.store.Text(raw.store.kernels.core[0]), "AI_CORE");
  EXPECT_EQ(raw.store.Text(raw.store.kernels.input_shapes[0]), "2,3");
  EXPECT_THAT(Values(raw.store.kernels.stream), ElementsAre(7, 7, 7, 7, 7));
  EXPECT_THAT(Values(raw.store.kernels.wait_ns), ElementsAre(0, 34, 29, 4, 2));
  EXPECT_THAT(Values(raw.store.kernels.device),
              ElementsAre(3, 3, 3, 3, 3));  // the rank, where nothing else says
}

TEST(AppendCpuDevice, KernelsDoNotDependOnTimes) {
  for (const int64_t inner_ns : {1, 10, 97}) {  // mm takes next to nothing, or all of matmul
    RawStore raw;
    raw.Op(1, 1 + inner_ns, "aten::mm");
    raw.Op(0, 99, "aten::matmul");
    AppendCpuDevice(raw.store);
    EXPECT_THAT(raw.KernelNames(), ElementsAre("aten::mm")) << inner_ns;
  }
}

TEST(RoleOfOperator, FollowsFromTheName) {
  EXPECT_EQ(RoleOfOperator("aten::as_strided", false), OpRole::kKeepsBooks);
  EXPECT_EQ(RoleOfOperator("aten::empty.memory_format", false), OpRole::kKeepsBooks);
  EXPECT_EQ(RoleOfOperator("aten::copy_", false), OpRole::kMoves);
  EXPECT_EQ(RoleOfOperator("aten::add_", false), OpRole::kComputes);
  EXPECT_EQ(RoleOfOperator("mine::view", false), OpRole::kComputes);
  EXPECT_EQ(RoleOfOperator("torch::autograd::AccumulateGrad", true), OpRole::kKeepsBooks);
  EXPECT_EQ(RoleOfOperator("ConvolutionBackward0", true), OpRole::kKeepsBooks);
  EXPECT_EQ(RoleOfOperator("MyBackward", true), OpRole::kComputes);
}

TEST(AppendCpuDevice, LinksEachOperatorToItsKernel) {
  RawStore raw;
  const store::SliceId mm = raw.Op(10, 30, "aten::mm");
  raw.Op(0, 39, "aten::linear");
  AppendCpuDevice(raw.store);
  for (const HostOp& op : ComputeHostOps(raw.store).ops) {
    EXPECT_EQ(op.device_self_ns, op.slice == mm ? 20 : 0);
    EXPECT_EQ(op.device_total_aicore_ns, 20);
  }
}

TEST(AppendCpuDevice, NamesCollectivesAsHcclDoes) {
  RawStore raw;
  raw.Op(0, 5, "c10d::allreduce_");
  raw.Collective(raw.Op(1, 40, "gloo:all_reduce"), "17522688603477080586", "all_reduce");
  raw.Collective(raw.Op(50, 60, "gloo:all_gather"), "17522688603477080586", "all_gather");
  raw.Collective(raw.Op(70, 80, "gloo:recv"), "pairs", "recv");
  raw.Op(10, 20, "aten::mm");  // while gloo works
  AppendCpuDevice(raw.store);
  const store::CommOpTable& ops = raw.store.comm_ops;
  ASSERT_EQ(ops.size(), 3u);
  EXPECT_EQ(raw.store.Text(ops.name[0]), "hcom_allReduce__586_0_1");
  EXPECT_EQ(raw.store.Text(ops.op_type[0]), "hcom_allReduce_");
  EXPECT_EQ(raw.store.Text(ops.name[1]), "hcom_allGather__586_1_1");
  EXPECT_THAT(std::string(raw.store.Text(ops.name[2])), testing::StartsWith("hcom_receive__"));
  EXPECT_EQ(raw.store.Text(ops.data_type[0]), "FP32");
  EXPECT_EQ(ops.count[0], 1024);
  EXPECT_EQ(ops.size_bytes[0], 4096);
  EXPECT_EQ(ops.begin_ns[0], 1);
  EXPECT_EQ(ops.dur_ns[0], 39);
  EXPECT_TRUE(raw.store.sheets.empty());
  const auto track = static_cast<size_t>(ops.track[0]);
  EXPECT_EQ(raw.store.Text(raw.store.tracks.name[track]),
            "Group 17522688603477080586 Communication");
  // The calls themselves are no kernels; the operator that runs meanwhile is.
  EXPECT_EQ(raw.store.kernels.size(), 4u);
}

TEST(AppendCpuDevice, WhatGoesToOneOtherRankIsATransfer) {
  RawStore raw;  // rank 3
  raw.Collective(raw.Op(1, 41, "gloo:send"), "pairs", "send", "0", "1,3");
  raw.Collective(raw.Op(50, 60, "gloo:recv"), "pairs", "recv", "0", "1,3");
  raw.Collective(raw.Op(70, 80, "gloo:all_reduce"), "pairs", "all_reduce", "", "1,3");
  raw.Collective(raw.Op(90, 95, "gloo:send"), "others", "send", "0", "1,2");  // not in the group
  raw.Collective(raw.Op(96, 99, "gloo:recv"), "pairs", "recv", "", "1,3");    // from anybody
  AppendCpuDevice(raw.store);
  const store::CommTaskTable& tasks = raw.store.comm_tasks;
  EXPECT_THAT(Values(tasks.src_rank), ElementsAre(1, 0, 1));  // rank 3 is place 1 of {1, 3}
  EXPECT_THAT(Values(tasks.dst_rank), ElementsAre(0, 1, 0));
  EXPECT_THAT(Values(tasks.begin_ns), ElementsAre(1, 50, 70));
  EXPECT_THAT(Values(tasks.dur_ns), ElementsAre(40, 10, 10));
  EXPECT_THAT(Values(tasks.size_bytes), ElementsAre(4096, 4096, 4096));
}

TEST(LinksOf, FollowsTheAlgorithmOfEachCollective) {
  HostCollective one;
  one.ranks = {4, 5, 6, 7};
  one.size_bytes = 400;
  const auto links = [&](std::string_view op, int64_t rank = 7) {
    one.op = op;
    std::vector<std::tuple<int64_t, int64_t, int64_t>> out;
    for (const HostLink& link : LinksOf(one, rank))
      out.emplace_back(link.src, link.dst, link.size_bytes);
    return out;
  };
  EXPECT_THAT(links("allReduce"), ElementsAre(std::tuple(3, 0, 600)));
  EXPECT_THAT(links("allReduce", 5), ElementsAre(std::tuple(1, 2, 600)));
  EXPECT_THAT(links("allGather"), ElementsAre(std::tuple(3, 0, 1200)));
  EXPECT_THAT(links("reduceScatter"), ElementsAre(std::tuple(3, 0, 300)));
  EXPECT_THAT(links("alltoall", 5),
              ElementsAre(std::tuple(1, 0, 100), std::tuple(1, 2, 100), std::tuple(1, 3, 100)));
  EXPECT_THAT(links("broadcast"), ElementsAre());     // nobody knows from where
  EXPECT_THAT(links("allReduce", 9), ElementsAre());  // not in the group
  one.ranks = {7};
  EXPECT_THAT(links("allReduce"), ElementsAre());
}

TEST(AppendCpuDevice, ACollectiveHasItsBytesBandwidthAndLinks) {
  RawStore raw;  // rank 3
  raw.Collective(raw.Op(1000, 5096, "gloo:all_reduce"), "g", "all_reduce", "", "1,3");
  raw.Collective(raw.Op(6000, 7000, "gloo:all_to_all"), "g", "all_to_all", "", "0,1,2,3");
  AppendCpuDevice(raw.store);
  const std::vector<CommunicationStep> steps = CollectCommunication(raw.store);
  ASSERT_EQ(steps.size(), 1u);
  const CommunicationClass& of = steps[0].collective;
  ASSERT_EQ(of.operations.size(), 2u);
  const auto sdma = [](const OperationFacts& operation) {
    return *std::find_if(operation.transports.begin(), operation.transports.end(),
                         [](const TransportFacts& one) { return one.transport == "SDMA"; });
  };
  EXPECT_DOUBLE_EQ(of.operations[0].transit_ms, 0.004096);
  EXPECT_DOUBLE_EQ(sdma(of.operations[0]).transit_size_mb, 0.004096);
  EXPECT_DOUBLE_EQ(sdma(of.operations[0]).bandwidth_gbps, 1);  // 4096 bytes in 4096 ns
  // Three links at once take no longer than the operation.
  EXPECT_DOUBLE_EQ(of.operations[1].transit_ms, 0.001);
  EXPECT_DOUBLE_EQ(of.operations[1].idle_ms, 0);
  EXPECT_DOUBLE_EQ(sdma(of.operations[1]).transit_size_mb, 0.003072);
  size_t links = 0;
  for (const MatrixEntry& entry : of.matrix) {
    if (entry.name.ends_with("-total")) links += entry.links.size();
  }
  EXPECT_EQ(links, 4u);
}

TEST(AppendCpuDevice, FindsCollectivesByNameWhereNothingElseIsRecorded) {
  RawStore raw;
  raw.Op(1, 40, "gloo:broadcast");
  AppendCpuDevice(raw.store);
  ASSERT_EQ(raw.store.comm_ops.size(), 1u);
  EXPECT_EQ(raw.store.Text(raw.store.comm_ops.group_name[0]), "gloo");
}

TEST(AppendCpuDevice, DividesTheTimeAsTheOverlapTrackShows) {
  RawStore raw;
  raw.Op(0, 10, "aten::mm");
  raw.Collective(raw.Op(5, 30, "gloo:all_reduce"), "g", "all_reduce");
  raw.Op(40, 50, "aten::mm");
  AppendCpuDevice(raw.store);
  const std::vector<DeviceWork> works = CollectDeviceWork(raw.store);
  ASSERT_EQ(works.size(), 1u);
  EXPECT_EQ(works[0].compute.size(), 2u);
  EXPECT_EQ(works[0].reference_range, (Interval{0, 50}));
  int64_t free_ns = 0;
  int64_t comm_only_ns = 0;
  for (size_t i = 0; i < raw.store.slices.size(); ++i) {
    const std::string_view name = raw.store.Text(raw.store.slices.name[i]);
    if (name == "Free") free_ns += raw.store.slices.dur_ns[i];
    if (name == "Communication(Not Overlapped)") comm_only_ns += raw.store.slices.dur_ns[i];
  }
  EXPECT_EQ(free_ns, 10);
  EXPECT_EQ(comm_only_ns, 20);
}

TEST(AppendCpuDevice, LeavesAnEmptyCaptureAlone) {
  RawStore raw;
  AppendCpuDevice(raw.store);
  EXPECT_EQ(raw.store.kernels.size(), 0u);
  EXPECT_EQ(raw.store.slices.size(), 0u);
}

TEST(CompleteRawCapture, GivesKernelsTheirSteps) {
  RawStore raw;
  raw.Op(10, 20, "aten::mm");
  raw.Op(100, 120, "aten::mm");
  raw.Op(210, 220, "aten::mm");
  raw.Step(1, 0, 50);
  raw.Step(2, 90, 200);
  CompleteRawCapture(raw.store);
  EXPECT_THAT(Values(raw.store.kernels.step), ElementsAre(1, 2, kNone));
}

// A collective that step 1 starts and that goes on until step 3, which is shorter than it.
class StepsWithALongCollective : public RawStore {
 public:
  StepsWithALongCollective() {
    Op(10, 20, "aten::mm");
    Collective(Op(30, 250, "gloo:all_reduce"), "g", "all_reduce");
    Op(110, 120, "aten::mm");
    Op(210, 230, "aten::mm");
    Step(1, 0, 100);
    Step(2, 100, 200);
    Step(3, 200, 300);
    Step(4, 300, 400);  // does nothing, and takes its time
    CompleteRawCapture(store);
  }
};

TEST(CompleteRawCapture, AKernelHasTheStepOfItsOperatorWhateverElseRuns) {
  StepsWithALongCollective raw;
  EXPECT_THAT(raw.KernelNames(),
              ElementsAre("aten::mm", "hcom_allReduce__895_0_1", "aten::mm", "aten::mm"));
  EXPECT_THAT(Values(raw.store.kernels.step), ElementsAre(1, 1, 2, 3));
}

TEST(CompleteRawCapture, CutsWhatCrossesTheBorderOfAStep) {
  StepsWithALongCollective raw;
  for (const auto rule : {BreakdownRule::kText, BreakdownRule::kDb}) {
    const std::vector<StepParts> steps = BreakDown(RankView(raw.store), {.rule = rule});
    ASSERT_EQ(steps.size(), 4u);
    const auto column = [&](int64_t StepParts::* part) {
      std::vector<int64_t> out;
      for (const StepParts& step : steps) out.push_back(step.*part);
      return out;
    };
    EXPECT_THAT(column(&StepParts::computing_ns), ElementsAre(10, 10, 20, 0));
    EXPECT_THAT(column(&StepParts::communication_ns), ElementsAre(70, 100, 50, 0));
    EXPECT_THAT(column(&StepParts::overlapped_ns), ElementsAre(0, 10, 20, 0));
    EXPECT_THAT(column(&StepParts::free_ns), ElementsAre(20, 0, 50, 100));
    EXPECT_THAT(column(&StepParts::stage_ns), ElementsAre(100, 100, 100, 100));
  }
  // The slices of Overlap Analysis say the same.
  std::vector<std::pair<int64_t, int64_t>> communication;
  for (size_t i = 0; i < raw.store.slices.size(); ++i) {
    if (raw.store.Text(raw.store.slices.name[i]) != "Communication") continue;
    communication.emplace_back(raw.store.slices.begin_ns[i], raw.store.slices.dur_ns[i]);
  }
  EXPECT_THAT(communication,
              ElementsAre(std::pair(30, 70), std::pair(100, 100), std::pair(200, 50)));
}

TEST(CompleteRawCapture, ReceivingTwiceAtOnceIsNoNegativeStage) {
  RawStore raw;
  raw.Op(1, 2, "aten::mm");
  raw.Collective(raw.Op(10, 90, "gloo:recv"), "g", "recv");
  raw.Collective(raw.Op(20, 130, "gloo:recv"), "g", "recv");
  raw.Step(1, 0, 100);
  raw.Step(2, 100, 200);
  CompleteRawCapture(raw.store);
  const std::vector<StepParts> steps = BreakDown(RankView(raw.store));
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].bubble_ns, 90);
  EXPECT_EQ(steps[0].stage_ns, 10);
  EXPECT_EQ(steps[1].bubble_ns, 30);
  EXPECT_EQ(steps[1].stage_ns, 70);
}

TEST(IsHostTheDevice, IsFalseBesideAnAccelerator) {
  RawStore raw;
  raw.Op(0, 1, "aten::mm");
  EXPECT_TRUE(IsHostTheDevice(raw.store));
  raw.store.info.has_device_folder = true;
  EXPECT_FALSE(IsHostTheDevice(raw.store));
  RawStore queued;
  queued.Slice(queued.main_track(), 0, 1, "Dequeue@x", "dequeue");
  EXPECT_FALSE(IsHostTheDevice(queued.store));
  RawStore foreign;
  foreign.store.meta.Append({foreign.Text("cann_version"), foreign.Text("8.3")});
  EXPECT_FALSE(IsHostTheDevice(foreign.store));
}

TEST(AppendOperatorLinks, FollowsTheTaskQueue) {
  RawStore raw;
  const store::TrackId worker = raw.Thread(8);
  const store::TrackId cann = raw.ThreadOf("CANN", "Thread 8");
  const store::TrackId stream = raw.ThreadOf("Ascend Hardware", "Stream 2");
  raw.Op(0, 20, "aten::add");
  raw.Op(30, 50, "aten::mul");
  raw.Slice(raw.main_track(), 5, 6, "Enqueue@add", "enqueue", 1);
  raw.Slice(raw.main_track(), 35, 36, "Enqueue@mul", "enqueue", 2);
  raw.Slice(worker, 40, 60, "Dequeue@add", "dequeue", 1);
  raw.Slice(worker, 70, 90, "Dequeue@mul", "dequeue", 2);
  raw.Flow("HostToDevice", cann, 45, stream, 100);
  raw.Flow("HostToDevice", cann, 65, stream, 150);  // between two items: nobody's
  raw.Flow("HostToDevice", cann, 80, stream, 200);
  AppendOperatorLinks(raw.store);
  ASSERT_EQ(raw.store.flows.size(), 5u);
  EXPECT_EQ(raw.store.Text(raw.store.flows.kind[3]), "async_npu");
  EXPECT_EQ(raw.store.flows.from_ns[3], 0);
  EXPECT_EQ(raw.store.flows.to_ns[3], 100);
  EXPECT_EQ(raw.store.flows.from_ns[4], 30);
  EXPECT_EQ(raw.store.flows.to_ns[4], 200);
}

TEST(AppendOperatorLinks, UsesTheLaunchingThreadWithoutAQueue) {
  RawStore raw;
  const store::TrackId process = raw.Process("CANN");
  raw.store.tracks.Append({.parent = process, .tid = raw.Text("7"), .name = raw.Text("Thread 7")});
  const auto cann = static_cast<store::TrackId>(raw.store.tracks.size() - 1);
  const store::TrackId stream = raw.ThreadOf("Ascend Hardware", "Stream 2");
  raw.Op(10, 15, "aten::inner");
  raw.Op(0, 20, "aten::add");
  raw.Flow("HostToDevice", cann, 12, stream, 100);
  raw.Flow("HostToDevice", cann, 18, stream, 110);
  raw.Flow("HostToDevice", cann, 25, stream, 120);
  AppendOperatorLinks(raw.store);
  ASSERT_EQ(raw.store.flows.size(), 5u);
  EXPECT_EQ(raw.store.flows.from_ns[3], 10);
  EXPECT_EQ(raw.store.flows.from_ns[4], 0);
}

TEST(OrderMemoryRows, SumsFrameworkAndGraphEngine) {
  RawStore raw;
  const auto add = [&](std::string_view component, int64_t ts_ns, int64_t bytes, int64_t active) {
    raw.store.memory_samples.Append(
        {raw.Text(component), ts_ns, bytes, 2 * bytes, active, kNone, raw.Text("NPU:0")});
  };
  add("PTA", 10, 100, 90);
  add("PTA", 30, 50, 40);
  add("GE", 10, 7, kNone);
  add("APP", 5, 1000, kNone);
  OrderMemoryRows(raw.store);
  std::vector<std::string> components;
  for (const StringId one : raw.store.memory_samples.component)
    components.emplace_back(raw.store.Text(one));
  EXPECT_THAT(components, ElementsAre("APP", "PTA", "PTA+GE", "GE", "PTA+GE", "PTA", "PTA+GE"));
  EXPECT_THAT(Values(raw.store.memory_samples.allocated_bytes),
              ElementsAre(1000, 100, 100, 7, 107, 50, 57));
  EXPECT_THAT(Values(raw.store.memory_samples.active_bytes),
              ElementsAre(kNone, 90, 90, kNone, 90, 40, 40));
}

TEST(OrderMemoryRows, PutsBlocksOfCannBehindTheFrameworks) {
  RawStore raw;
  raw.store.allocations.Append({.name = raw.Text("MatMul"), .alloc_ns = 10, .dur_ns = 5});
  raw.store.allocations.Append({.name = raw.Text("aten::mm"), .alloc_ns = 20, .address = 64});
  OrderMemoryRows(raw.store);
  EXPECT_EQ(raw.store.Text(raw.store.allocations.name[0]), "aten::mm");
  EXPECT_EQ(raw.store.Text(raw.store.allocations.name[1]), "cann::MatMul");
  EXPECT_EQ(raw.store.allocations.release_ns[1], 15);
}

TEST(CompleteForExport, TheProcessMemoryIsThatOfTheApplicationWhereTheHostIsTheDevice) {
  RawStore b;
  b.Op(0, 10, "aten::mm");
  const store::TrackId usage = b.Process("Memory Usage");
  b.store.tracks.Append({.parent = usage, .kind = b.Text("counter"), .name = b.Text("process KB")});
  const auto series = static_cast<store::TrackId>(b.store.tracks.size() - 1);
  b.store.counters.Append({series, 5, 2048});
  b.store.memory_samples.Append({.component = b.Text("PTA"), .ts_ns = 3, .reserved_bytes = 64});
  CompleteForExport(b.store);
  ASSERT_EQ(b.store.memory_samples.size(), 2u);
  EXPECT_EQ(b.store.Text(b.store.memory_samples.component[1]), "APP");
  EXPECT_EQ(b.store.memory_samples.ts_ns[1], 5);
  EXPECT_EQ(b.store.memory_samples.reserved_bytes[1], 2048 * 1024);
  EXPECT_EQ(b.store.memory_samples.allocated_bytes[1], kNone);
  EXPECT_EQ(b.store.Text(b.store.memory_samples.device[1]), "NPU:3");
}

TEST(CompleteForExport, WithoutAllocatorSamplesThereIsNoApplicationMemory) {
  RawStore b;
  b.Op(0, 10, "aten::mm");
  const store::TrackId usage = b.Process("Memory Usage");
  b.store.tracks.Append({.parent = usage, .kind = b.Text("counter"), .name = b.Text("process KB")});
  b.store.counters.Append({static_cast<store::TrackId>(b.store.tracks.size() - 1), 5, 2048});
  CompleteForExport(b.store);
  EXPECT_EQ(b.store.memory_samples.size(), 0u);
}

TEST(CompleteForExport, TheExporterSaysTheMemoryOfTheApplication) {
  RawStore b;
  store::DynamicTable& sheet = b.store.sheets.emplace_back();
  sheet.name = "npu_mem";
  for (const char* name :
       {"Device_id", "event", "ddr(KB)", "hbm(KB)", "memory(KB)", "timestamp(us)"})
    sheet.columns.push_back({name, {}, {}});
  for (const auto& [event, kb] : {std::pair("App", 3.0), std::pair("Device", 9.0)}) {
    sheet.columns[0].numbers.Append(6);
    sheet.columns[1].texts.Append(b.Text(event));
    for (const size_t i : {2u, 3u}) sheet.columns[i].numbers.Append(0);
    sheet.columns[4].numbers.Append(kb);
    sheet.columns[5].texts.Append(b.Text("1736408883704643.212\t"));
  }
  b.store.memory_samples.Append({.component = b.Text("PTA"), .ts_ns = 3});
  CompleteForExport(b.store);
  ASSERT_EQ(b.store.memory_samples.size(), 2u);
  EXPECT_EQ(b.store.memory_samples.ts_ns[1], 1736408883704643212);
  EXPECT_EQ(b.store.memory_samples.reserved_bytes[1], 3 * 1024);
  EXPECT_EQ(b.store.Text(b.store.memory_samples.device[1]), "NPU:6");
  EXPECT_TRUE(b.store.sheets.empty());
}

TEST(CompleteForExport, SaysWhenTheCaptureBeganAndEnded) {
  RawStore b;
  const auto say = [&](std::string_view name, std::string_view value) {
    b.store.meta.Append({b.Text(name), b.Text(value)});
  };
  say("start_info.start_monotonic", "1000");
  say("end_info.MonotonicTimeEnd", "5000");
  say("end_info.collectionTimeEnd", "1700000000000005000");
  CompleteForExport(b.store);
  EXPECT_EQ(b.store.FindMeta("startTimeNs"), "1700000000000001000");
  EXPECT_EQ(b.store.FindMeta("endTimeNs"), "1700000000000005000");
}

}  // namespace
}  // namespace steplens::analysis
