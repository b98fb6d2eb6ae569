#include "readers/prof/prof.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "readers/prof/test_tree.h"
#include "store/trace_store.h"

namespace steplens::readers {
namespace {

namespace raw = format::prof;
using prof_test::IssueCount;
using prof_test::ReadTree;
using prof_test::TestTree;

// A matrix product that a node launches: stream 2, task 5, from 1000 to 1500.
void AddMatMul(TestTree& tree) {
  tree.Type(5000, 0, "KERNEL_AICORE");
  tree.Type(10000, 5, "launch");
  tree.Type(20000, 0x50001, "aclnnMatmul");
  tree.Hash(11, "MatMul_1");
  tree.Hash(12, "MatMulV2");
  tree.Api(raw::kLevelAcl, 0x50001, 100, 300);
  tree.Api(raw::kLevelNode, 5, 120, 280, 11);
  tree.Task(200, 2, 5, raw::kTaskKernelAicore, 2);
  raw::NodeBasicInfo info{};
  info.name = 11;
  info.type = 12;
  info.task_type = 0;
  tree.Record("compact.node_basic_info", raw::kLevelNode, 280, info);
  tree.Run(0, 2, 5, 1000, 1500);
}

TEST(ReadProf, JoinsAKernelWithItsLaunch) {
  TestTree tree;
  AddMatMul(tree);
  raw::TensorInfo tensors{};
  tensors.name = 11;
  tensors.count = 2;
  tensors.tensors[0] = {0, 2, 27, {32, 64}};
  tensors.tensors[1] = {1, 29, 1, {32}};
  tree.Record("additional.tensor_info", raw::kLevelNode, 280, tensors);
  const store::TraceStore out = ReadTree(tree);
  ASSERT_EQ(out.kernels.size(), 1u);
  const auto kernel = out.kernels.Get(0);
  EXPECT_EQ(out.Text(kernel.name), "MatMul_1");
  EXPECT_EQ(out.Text(kernel.type), "MatMulV2");
  EXPECT_EQ(out.Text(kernel.core), "AI_CORE");
  EXPECT_EQ(out.Text(kernel.state), "dynamic");
  EXPECT_EQ(kernel.stream, 2);
  EXPECT_EQ(kernel.task_id, 5);
  EXPECT_EQ(kernel.begin_ns, 1000);
  EXPECT_EQ(kernel.dur_ns, 500);
  EXPECT_EQ(kernel.block_dim, 2);
  EXPECT_EQ(out.Text(kernel.input_shapes), "32,64");
  EXPECT_EQ(out.Text(kernel.input_types), "DT_BF16");
  EXPECT_EQ(out.Text(kernel.output_formats), "FRACTAL_NZ");
  // The node is the second call; its number connects it with the task.
  EXPECT_EQ(kernel.correlation, 2);
  ASSERT_EQ(out.flows.size(), 1u);
  EXPECT_EQ(out.flows.from_ns[0], 120);
  EXPECT_EQ(out.flows.to_ns[0], 1000);
  EXPECT_TRUE(out.issues.empty());
}

TEST(ReadProf, TaskOfTheDeviceAloneHasItsOwnType) {
  TestTree tree;
  tree.Run(11, 3, 1, 10, 20);
  const store::TraceStore out = ReadTree(tree);
  ASSERT_EQ(out.slices.size(), 1u);
  EXPECT_EQ(out.Text(out.slices.name[0]), "SDMA_SQE");
  EXPECT_EQ(out.slices.correlation[0], store::kNone);
  EXPECT_EQ(out.kernels.size(), 0u);
}

// Ids of a stream begin again after the flip: two tasks of one id are two kernels.
TEST(ReadProf, FlipsTellTasksOfOneIdApart) {
  TestTree tree;
  AddMatMul(tree);
  tree.Api(raw::kLevelNode, 5, 520, 580, 11);
  raw::TaskTrack flip{};
  flip.stream = 2;
  flip.task = 1u << 16;
  flip.type = raw::kTaskFlip;
  tree.Record("compact.task_track", raw::kLevelRuntime, 400, flip);
  tree.Task(550, 2, 5, raw::kTaskKernelAicore, 2);
  raw::TsTrack device_flip{};
  device_flip.function = raw::kTsFlip;
  device_flip.time = 1600;
  device_flip.flip.stream = 2;
  tree.Append("device_0/data/ts_track.data.0.slice_0", device_flip);
  tree.Run(0, 2, 5, 2000, 2100);
  const store::TraceStore out = ReadTree(tree);
  ASSERT_EQ(out.kernels.size(), 2u);
  EXPECT_EQ(out.kernels.correlation[0], 2);
  EXPECT_EQ(out.kernels.correlation[1], 3);
  EXPECT_EQ(out.kernels.begin_ns[1], 2000);
  EXPECT_TRUE(out.issues.empty());
}

TEST(ReadProf, CountersBecomeTimesAndRatios) {
  TestTree tree;
  AddMatMul(tree);
  raw::FftsPmu pmu{};
  pmu.head = raw::kContextPmu;
  pmu.stream = 2;
  pmu.task = 5;
  pmu.cycles = 800;  // two blocks on two cores at 1 GHz: 0.4 us
  pmu.counters[0] = 200;
  pmu.counters[1] = 200;
  pmu.counters[6] = 50;
  pmu.counters[7] = 5;
  pmu.end = 1490;
  tree.Append("device_0/data/ffts_profile.data.0.slice_0", pmu);
  const store::TraceStore out = ReadTree(tree);
  const auto value = [&](std::string_view name) {
    for (const store::DynamicColumn& column : out.kernel_metrics) {
      if (column.name == name) return column.numbers[0];
    }
    ADD_FAILURE() << name;
    return 0.0;
  };
  EXPECT_DOUBLE_EQ(value("aicore_time(us)"), 0.4);
  EXPECT_DOUBLE_EQ(value("aic_mac_ratio"), 0.5);
  EXPECT_DOUBLE_EQ(value("aic_mac_time(us)"), 0.2);
  EXPECT_DOUBLE_EQ(value("aic_icache_miss_rate"), 0.1);
  EXPECT_DOUBLE_EQ(value("aiv_total_cycles"), 0);
  EXPECT_DOUBLE_EQ(value("cube_utilization(%)"), 80);  // 800 of 2 x 1000 x 0.5 cycles
}

TEST(ReadProf, CollectiveLastsAsItsMasterTasks) {
  TestTree tree;
  tree.Type(5000, 5, "MEMCPY_ASYNC");
  tree.Type(5500, 0x10001, "master");
  tree.Type(5500, 0x10002, "slave");
  tree.Hash(21, "hcom_allReduce_");
  tree.Hash(22, "Memcpy");
  tree.Hash(1234567, "group_0");
  tree.Hash(24, "HD");
  tree.Api(raw::kLevelNode, 5, 100, 400, 21);
  tree.Api(raw::kLevelCommunication, 0x10001, 120, 180, 22);
  tree.Api(raw::kLevelCommunication, 0x10002, 200, 280, 22);
  tree.Task(150, 3, 0, raw::kTaskMemcpyAsync);
  tree.Task(250, 4, 0, raw::kTaskMemcpyAsync);
  raw::HcclInfo task{};
  task.item = 22;
  task.group = 1234567;
  task.remote_rank = 3;
  task.size = 4096;
  task.link = 1;
  tree.Record("additional.hccl_info", raw::kLevelCommunication, 180, task);
  task.plane = 1;
  tree.Record("additional.hccl_info", raw::kLevelCommunication, 280, task);
  raw::HcclOpInfo op{};
  op.data_type = 4;
  op.algorithm = 24;
  op.count = 1024;
  op.group = 1234567;
  tree.Record("compact.hccl_op_info", raw::kLevelNode, 400, op);
  tree.Run(11, 3, 0, 1000, 1100);
  tree.Run(11, 4, 0, 1050, 1900);
  const store::TraceStore out = ReadTree(tree);
  ASSERT_EQ(out.comm_ops.size(), 1u);
  EXPECT_EQ(out.Text(out.comm_ops.name[0]), "hcom_allReduce__567_0_1");
  EXPECT_EQ(out.Text(out.comm_ops.group_name[0]), "group_0");
  EXPECT_EQ(out.Text(out.comm_ops.data_type[0]), "FP32");
  EXPECT_EQ(out.comm_ops.begin_ns[0], 1000);
  EXPECT_EQ(out.comm_ops.dur_ns[0], 100);
  ASSERT_EQ(out.comm_tasks.size(), 2u);
  EXPECT_EQ(out.comm_tasks.is_master[0], 1);
  EXPECT_EQ(out.comm_tasks.plane[1], 1);
  EXPECT_EQ(out.comm_tasks.size_bytes[1], 4096);
  EXPECT_EQ(out.Text(out.comm_tasks.link[0]), "HCCS");
  EXPECT_EQ(out.kernels.size(), 1u);
}

TEST(ReadProf, DamagedRecordsAreCountedAndTheRestIsUsed) {
  TestTree tree;
  AddMatMul(tree);
  tree.AppendBytes("host/data/aging.compact.task_track.slice_0", std::string(64, 'x'));
  tree.AppendBytes("device_0/data/stars_soc.data.0.slice_0", std::string(64 + 10, 'y'));
  const store::TraceStore out = ReadTree(tree);
  EXPECT_EQ(out.kernels.size(), 1u);
  EXPECT_EQ(IssueCount(out, store::IssueKind::kRecordDamaged), 2u);
  EXPECT_EQ(IssueCount(out, store::IssueKind::kRecordsTruncated), 1u);
}

// Slices before the first are gone: what is too much stands at the front.
TEST(ReadProf, AgedStreamBeginsInsideARecord) {
  TestTree tree;
  tree.Run(11, 3, 1, 10, 20);
  std::string bytes(7, 'z');
  bytes += [&] {
    std::ifstream file(tree.path() + "/device_0/data/stars_soc.data.0.slice_0", std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  std::filesystem::remove(tree.path() + "/device_0/data/stars_soc.data.0.slice_0");
  tree.AppendBytes("device_0/data/stars_soc.data.0.slice_9", bytes.substr(0, 100));
  tree.AppendBytes("device_0/data/stars_soc.data.0.slice_10", bytes.substr(100));
  const store::TraceStore out = ReadTree(tree);
  ASSERT_EQ(out.slices.size(), 1u);
  EXPECT_EQ(out.slices.begin_ns[0], 10);
  EXPECT_EQ(out.slices.dur_ns[0], 10);
  EXPECT_EQ(IssueCount(out, store::IssueKind::kRecordsTruncated), 1u);
}

TEST(ReadProf, HostAloneAndDeviceAloneAreRead) {
  TestTree tree;
  AddMatMul(tree);
  std::filesystem::rename(tree.path() + "/device_0", tree.path() + "/other");
  EXPECT_EQ(ReadTree(tree).slices.size(), 2u);
  std::filesystem::rename(tree.path() + "/other", tree.path() + "/device_0");
  std::filesystem::remove_all(tree.path() + "/host");
  const store::TraceStore out = ReadTree(tree);
  ASSERT_EQ(out.slices.size(), 1u);
  EXPECT_EQ(out.Text(out.slices.name[0]), "AI_CORE");
}

TEST(ReadProf, ThreadsDoNotChangeTheResult) {
  TestTree tree;
  AddMatMul(tree);
  const store::TraceStore one = ReadTree(tree, 1);
  const store::TraceStore four = ReadTree(tree, 4);
  ASSERT_EQ(one.slices.size(), four.slices.size());
  for (size_t i = 0; i < one.slices.size(); ++i) {
    EXPECT_EQ(one.Text(one.slices.name[i]), four.Text(four.slices.name[i]));
    EXPECT_EQ(one.slices.begin_ns[i], four.slices.begin_ns[i]);
  }
}

TEST(ReadProf, UnknownChipIsSaid) {
  TestTree tree;
  AddMatMul(tree);
  tree.WriteText("device_0/info.json.0", R"({"platform_version":"9","DeviceInfo":[]})");
  const store::TraceStore out = ReadTree(tree);
  EXPECT_EQ(out.kernels.size(), 0u);
  EXPECT_EQ(out.slices.size(), 2u);
  EXPECT_EQ(IssueCount(out, store::IssueKind::kDeviceUnknown), 1u);
}

// A kernel that AI CPU runs for a collective gives tasks to stream 40, which join the collective.
TEST(ReadProf, AicpuTasksJoinTheirCollective) {
  TestTree tree;
  tree.Type(5000, 1, "KERNEL_AICPU");
  tree.Type(5000, 14, "NOTIFY_WAIT");
  tree.Type(5500, 0x10001, "master");
  tree.Hash(21, "hcom_allReduce_");
  tree.Hash(22, "Memcpy");
  tree.Hash(23, "allreduceAicpuKernel");
  tree.Hash(1234567, "group_0");
  tree.Api(raw::kLevelNode, 5, 100, 400, 21);
  tree.Api(raw::kLevelCommunication, 0x10001, 120, 180, 22);
  tree.Api(raw::kLevelNode, 5, 200, 300, 23);
  tree.Task(150, 3, 0, raw::kTaskNotifyWait);
  tree.Task(250, 30, 0, raw::kTaskKernelAicpu);
  raw::HcclOpInfo op{};
  op.group = 1234567;
  tree.Record("compact.hccl_op_info", raw::kLevelNode, 400, op);
  raw::Mc2CommInfo streams{};
  streams.group = 1234567;
  streams.kernel_stream = 30;
  streams.stream_count = 1;
  streams.streams[0] = 40;
  tree.Record("additional.mc2_comm_info", raw::kLevelNode, 10, streams);
  tree.Run(7, 3, 0, 900, 2100);
  tree.Run(1, 30, 0, 1000, 2000);
  tree.Run(7, 40, 0, 1200, 1300);
  tree.Run(11, 40, 1, 1300, 1800);
  raw::AicpuHcclOp device_op{};
  device_op.group = 1234567;
  device_op.stream = 30;
  tree.Aicpu(raw::kAicpuHcclOp, 1100, device_op);
  tree.Aicpu(raw::kAicpuMainStream, 1150, raw::AicpuMainStream{30, 0, 40, 0, 0});
  tree.Aicpu(raw::kAicpuMainStream, 1160, raw::AicpuMainStream{30, 0, 40, 1, 1});
  raw::AicpuHcclTask tasks[2] = {};
  tasks[0].item = tasks[1].item = 22;
  tasks[0].group = tasks[1].group = 1234567;
  tasks[0].stream = tasks[1].stream = 40;
  tasks[1].task = 1;
  tasks[1].size = 64;
  tree.Aicpu(raw::kAicpuHcclTasks, 1170, tasks);
  const store::TraceStore out = ReadTree(tree);
  ASSERT_EQ(out.comm_ops.size(), 1u);
  EXPECT_EQ(out.comm_ops.begin_ns[0], 900);
  EXPECT_EQ(out.comm_ops.dur_ns[0], 1200);
  ASSERT_EQ(out.comm_tasks.size(), 3u);
  EXPECT_EQ(out.Text(out.comm_tasks.op_name[2]), "hcom_allReduce__567_0_1");
  EXPECT_EQ(out.comm_tasks.is_master[1], 0);  // the first of the main stream never is
  EXPECT_EQ(out.comm_tasks.is_master[2], 1);
  EXPECT_EQ(out.comm_tasks.plane[2], 1);
  EXPECT_EQ(out.comm_tasks.size_bytes[2], 64);
}

// Two iterations of a graph; the second ends with the model.
TEST(ReadProf, IterationsOfAGraph) {
  TestTree tree;
  const auto mark = [&](uint64_t time, uint16_t tag) {
    raw::TsTrack track{};
    track.function = raw::kTsStepTrace;
    track.time = time;
    track.step.model = 3;
    track.step.tag = tag;
    tree.Append("device_0/data/ts_track.data.0.slice_0", track);
  };
  mark(100, raw::kTagModelStart);
  mark(110, raw::kTagForwardStart);
  mark(150, raw::kTagBackwardEnd);
  mark(170, raw::kTagIterationEnd);
  mark(175, raw::kTagModelEnd);
  mark(200, raw::kTagModelStart);
  mark(290, raw::kTagModelEnd);
  const store::TraceStore out = ReadTree(tree);
  ASSERT_EQ(out.slices.size(), 4u);
  EXPECT_EQ(out.Text(out.slices.name[0]), "Iteration 1");
  EXPECT_EQ(out.slices.begin_ns[0], 100);
  EXPECT_EQ(out.slices.dur_ns[0], 70);
  EXPECT_EQ(out.Text(out.slices.name[1]), "FP_BP Time 1");
  EXPECT_EQ(out.slices.dur_ns[1], 40);
  EXPECT_EQ(out.Text(out.slices.name[3]), "Iteration 2");
  EXPECT_EQ(out.slices.begin_ns[3], 200);
  EXPECT_EQ(out.slices.dur_ns[3], 90);
}

TEST(ReadProf, FolderWithoutDataIsAnError) {
  ThreadPool pool(1);
  ReadOptions options;
  options.pool = &pool;
  store::TraceStore out;
  const std::string folder = testing::TempDir() + "PROF_empty";
  std::filesystem::create_directories(folder);
  EXPECT_FALSE(ReadProf(folder, options, out).ok());
}

}  // namespace
}  // namespace steplens::readers
