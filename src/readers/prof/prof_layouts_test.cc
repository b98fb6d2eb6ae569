#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "readers/prof/prof.h"
#include "readers/prof/test_tree.h"
#include "store/trace_store.h"

// Layouts that no golden set has, each from its table in docs/formats/prof.md.
namespace steplens::readers {
namespace {

namespace raw = format::prof;
using prof_test::ReadTree;
using prof_test::TestTree;

void SetChip(TestTree& tree, int chip, const std::string& sample = "{}",
             const std::string& version = "1.0") {
  const std::string head = R"({"platform_version":")" + std::to_string(chip) + R"(","version":")" +
                           version +
                           R"(","pid":"7","drvVersion":467732,"CPU":[{"Frequency":"1000"}],)";
  tree.WriteText("host/info.json", head + R"("DeviceInfo":[]})");
  tree.WriteText("device_0/info.json.0",
                 head + R"("DeviceInfo":[{"hwts_frequency":"1000","aic_frequency":"1000",)"
                        R"("ai_core_num":2,"aiv_num":4}]})");
  tree.WriteText("device_0/sample.json", sample);
}

double Metric(const store::TraceStore& store, std::string_view name, size_t row) {
  for (const store::DynamicColumn& column : store.kernel_metrics) {
    if (column.name == name) return column.numbers[row];
  }
  ADD_FAILURE() << "no column " << name;
  return -1;
}

const store::DynamicTable& Sheet(const store::TraceStore& store, std::string_view name) {
  static const store::DynamicTable kNothing;
  for (const store::DynamicTable& sheet : store.sheets) {
    if (sheet.name == name) return sheet;
  }
  ADD_FAILURE() << "no sheet " << name;
  return kNothing;
}

// name, label, time and value of each sample.
std::vector<std::string> Samples(const store::TraceStore& store) {
  std::vector<std::string> rows;
  for (size_t i = 0; i < store.counters.size(); ++i) {
    const auto track = static_cast<size_t>(store.counters.track[i]);
    rows.push_back(std::string(store.Text(store.tracks.name[track])) + " " +
                   std::string(store.Text(store.tracks.label[track])) + " " +
                   std::to_string(store.counters.ts_ns[i]) + " " +
                   std::to_string(store.counters.value[i]));
  }
  return rows;
}

void Log950(TestTree& tree, uint16_t function, uint32_t id, uint64_t time) {
  raw::StarsLog950 log{};
  log.head = function;
  log.magic = raw::kStarsMagic;
  log.task_low = static_cast<uint16_t>(id & 0xFFFF);
  log.task_high = static_cast<uint16_t>(id >> 16);
  log.time = time;
  tree.Append("device_0/data/stars_soc.data.0.slice_0", log);
}

// Two tasks whose ids differ in the upper half only, on two streams that the device does not name.
TEST(ReadProf950, TasksAreFoundByTheirWholeId) {
  TestTree tree;
  SetChip(tree, 15);
  tree.Type(5000, 0, "KERNEL_AICORE");
  tree.Hash(11, "First");
  tree.Hash(12, "Second");
  tree.Api(raw::kLevelNode, 5, 100, 200, 11);
  tree.Api(raw::kLevelNode, 5, 300, 400, 12);
  tree.Task(150, 2, 0x00010007, raw::kTaskKernelAicore);
  tree.Task(350, 3, 0x00020007, raw::kTaskKernelAicore);
  Log950(tree, raw::kTaskStart, 0x00010007, 1000);
  Log950(tree, raw::kTaskStart, 0x00020007, 1100);
  Log950(tree, raw::kTaskEnd, 0x00020007, 1400);
  Log950(tree, raw::kTaskEnd, 0x00010007, 1900);
  const store::TraceStore out = ReadTree(tree);
  ASSERT_EQ(out.kernels.size(), 2u);
  EXPECT_EQ(out.Text(out.kernels.name[0]), "First");
  EXPECT_EQ(out.kernels.stream[0], 2);
  EXPECT_EQ(out.kernels.task_id[0], 0x00010007);
  EXPECT_EQ(out.kernels.dur_ns[0], 900);
  EXPECT_EQ(out.Text(out.kernels.name[1]), "Second");
  EXPECT_EQ(out.kernels.stream[1], 3);
  EXPECT_EQ(out.kernels.dur_ns[1], 300);
  ASSERT_EQ(out.device_tasks.size(), 2u);
  EXPECT_EQ(out.device_tasks.task_id[1], 0x00020007u);
  EXPECT_EQ(out.device_tasks.batch_id[1], 0u);
  EXPECT_TRUE(out.issues.empty());
}

// A flip of the device does not number tasks whose ids do not wrap; a task nobody launched has no
// stream of its own.
TEST(ReadProf950, FlipsMeanNothingAndUnknownTasksAreShown) {
  TestTree tree;
  SetChip(tree, 16);
  tree.Type(5000, 5, "MEMCPY_ASYNC");
  tree.Task(150, 2, 7, raw::kTaskMemcpyAsync);
  raw::TsTrack flip{};
  flip.function = raw::kTsFlip;
  flip.time = 500;
  flip.flip.stream = 2;
  tree.Append("device_0/data/ts_track.data.0.slice_0", flip);
  Log950(tree, raw::kTaskStart, 7, 1000);
  Log950(tree, raw::kTaskEnd, 7, 1010);
  Log950(tree, raw::kTaskStart, 8, 1020);
  Log950(tree, raw::kTaskEnd, 8, 1030);
  const store::TraceStore out = ReadTree(tree);
  ASSERT_EQ(out.device_tasks.size(), 2u);
  EXPECT_EQ(out.Text(out.device_tasks.type[0]), "MEMCPY_ASYNC");
  EXPECT_EQ(out.device_tasks.stream[0], 2);
  EXPECT_EQ(out.device_tasks.stream[1], 0xFFFF);
}

// Ten counters; blocks of the vector cores are the second part of a mixed kernel.
TEST(ReadProf950, CountersOfAMixedKernel) {
  TestTree tree;
  SetChip(tree, 15,
          R"({"ai_core_metrics":"Custom","ai_core_profiling_events":"0x1,0x2,0x3,0x4,0x5,0x6,0x7,)"
          R"(0x8,0x9,0xa","aiv_metrics":"Custom","aiv_profiling_events":"0x1"})");
  tree.Type(5000, 108, "KERNEL_MIX_AIC");
  tree.Hash(11, "Flash");
  tree.Api(raw::kLevelNode, 5, 100, 200, 11);
  raw::NodeBasicInfo info{};
  info.name = 11;
  info.task_type = 4;
  info.blocks = 1 | 2 << 16;
  tree.Record("compact.node_basic_info", raw::kLevelNode, 190, info);
  raw::TaskTrack track{};
  track.stream = 2;
  track.task = 0x00030007;
  track.type = raw::kTaskKernelMixAic;
  track.blocks = 1;
  track.flags = 2;
  tree.Record("compact.task_track", raw::kLevelRuntime, 150, track);
  Log950(tree, raw::kTaskStart, 0x00030007, 1000);
  Log950(tree, raw::kTaskEnd, 0x00030007, 2000);
  raw::FftsPmu950 pmu{};
  pmu.head = raw::kContextPmu;
  pmu.task_low = 7;
  pmu.task_high = 3;
  pmu.cycles = 500;
  pmu.flags = 3;  // the master of a mixed kernel, on cube cores
  pmu.counters[9] = 77;
  pmu.end = 1900;
  tree.Append("device_0/data/ffts_profile.data.0.slice_0", pmu);
  pmu.head = raw::kBlockPmu;
  pmu.flags = 2;
  pmu.core_type = 1;
  pmu.cycles = 30;
  pmu.counters[0] = 4;
  for (int block = 0; block < 2; ++block)
    tree.Append("device_0/data/ffts_profile.data.0.slice_0", pmu);
  const store::TraceStore out = ReadTree(tree);
  ASSERT_EQ(out.kernels.size(), 1u);
  EXPECT_DOUBLE_EQ(Metric(out, "aic_total_cycles", 0), 500);
  EXPECT_DOUBLE_EQ(Metric(out, "aic_0xa", 0), 77);
  EXPECT_DOUBLE_EQ(Metric(out, "aiv_total_cycles", 0), 60);
  EXPECT_DOUBLE_EQ(Metric(out, "aiv_0x1", 0), 8);
}

TEST(ReadProf950, StepsHaveTheirTagElsewhere) {
  TestTree tree;
  SetChip(tree, 15);
  const auto mark = [&](uint64_t time, uint16_t tag) {
    raw::TsTrack track{};
    track.function = raw::kTsStepTrace;
    track.time = time;
    track.step950.model = 3;
    track.step950.stream = 9;
    track.step950.tag = tag;
    tree.Append("device_0/data/ts_track.data.0.slice_0", track);
  };
  mark(100, raw::kTagModelStart);
  mark(170, raw::kTagModelEnd);
  const store::TraceStore out = ReadTree(tree);
  ASSERT_EQ(out.slices.size(), 1u);
  EXPECT_EQ(out.Text(out.slices.name[0]), "Iteration 1");
  EXPECT_EQ(out.slices.dur_ns[0], 70);
}

// A captured graph: no node stands above its tasks; the record of the runtime says what they are.
class CapturedGraph : public testing::TestWithParam<bool> {};

TEST_P(CapturedGraph, OperatorsAreNamedAndBelongToTheirModel) {
  TestTree tree;
  tree.Type(5000, 0, "KERNEL_AICORE");
  tree.Hash(11, "Captured_MatMul");
  tree.Hash(12, "MatMulV2");
  const auto capture = [&](uint64_t time, uint8_t ends) {
    if (GetParam()) {
      raw::CaptureStreamInfoV2 info{};
      info.model_stream = 2;
      info.model = 70000;
      info.status = ends;
      tree.Record("compact.capture_stream_info_v2", raw::kLevelRuntime, time, info);
    } else {
      raw::CaptureStreamInfo info{};
      info.model_stream = 2;
      info.model = 4;
      info.status = ends;
      tree.Record("compact.capture_stream_info", raw::kLevelRuntime, time, info);
    }
  };
  capture(100, 0);
  tree.Task(150, 2, 5, raw::kTaskKernelAicore, 6);
  capture(200, 1);
  tree.Task(250, 2, 6, raw::kTaskKernelAicore, 6);
  raw::CaptureOpInfo info{};
  info.model = 4;
  info.stream = 2;
  info.name = 11;
  info.type = 12;
  info.tensor_count = 6;  // more than a fixed record holds
  std::string payload(sizeof(info) + 6 * sizeof(raw::Tensor), '\0');
  const raw::Tensor tensor{0, 2, 1, {8, 4}};
  for (uint32_t task = 5; task <= 6; ++task) {
    info.task = task;
    if (!GetParam()) info.tensor_count = 3;
    std::memcpy(payload.data(), &info, sizeof(info));
    for (uint32_t i = 0; i < info.tensor_count; ++i)
      std::memcpy(payload.data() + sizeof(info) + i * sizeof(tensor), &tensor, sizeof(tensor));
    const raw::RecordHead head{raw::kHostMagic,
                               raw::kLevelRuntime,
                               0,
                               1,
                               static_cast<uint32_t>(sizeof(info) + info.tensor_count * 44),
                               10};
    std::string record(sizeof(head), '\0');
    std::memcpy(record.data(), &head, sizeof(head));
    record += payload.substr(0, head.data_len);
    if (!GetParam()) record.resize(raw::kAdditionalBytes);
    tree.AppendBytes(GetParam() ? "host/data/unaging.variable.capture_op_info.slice_0"
                                : "host/data/unaging.additional.capture_op_info.slice_0",
                     record);
  }
  tree.Run(0, 2, 5, 1000, 1100);
  tree.Run(0, 2, 6, 1200, 1300);
  tree.Run(0, 2, 5, 2000, 2100);  // the graph runs again
  const store::TraceStore out = ReadTree(tree);
  ASSERT_EQ(out.kernels.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(out.Text(out.kernels.name[i]), "Captured_MatMul");
    EXPECT_EQ(out.Text(out.kernels.type[i]), "MatMulV2");
    EXPECT_EQ(out.kernels.block_dim[i], 6);
  }
  EXPECT_EQ(out.Text(out.kernels.input_shapes[0]),
            GetParam() ? "8,4;8,4;8,4;8,4;8,4;8,4" : "8,4;8,4;8,4");
  EXPECT_EQ(out.kernels.model_id[0], GetParam() ? 70000 : 4);
  EXPECT_EQ(out.kernels.model_id[1], 4294967295);  // launched after the capture
  EXPECT_EQ(out.kernels.model_id[2], GetParam() ? 70000 : 4);
  EXPECT_TRUE(out.issues.empty());
}
INSTANTIATE_TEST_SUITE_P(BothForms, CapturedGraph, testing::Bool());

TEST(ReadProfLayouts, VariableRecordsThatDoNotFitAreCounted) {
  TestTree tree;
  const std::string name = "host/data/unaging.variable.capture_op_info.slice_0";
  raw::CaptureOpInfo info{};
  info.tensor_count = 9;  // says more than the record has
  const raw::RecordHead head{raw::kHostMagic, 5000, 0, 1, sizeof(info), 10};
  tree.Append(name, head);
  tree.Append(name, info);
  tree.Append(name, head);  // the end of the file
  const store::TraceStore out = ReadTree(tree);
  EXPECT_EQ(out.issues.entry(store::IssueKind::kRecordDamaged).count, 1u);
  EXPECT_EQ(out.issues.entry(store::IssueKind::kRecordsTruncated).count, 1u);
}

// Sub-tasks of one task: each is a kernel, and the whole task is not shown twice.
TEST(ReadProfLayouts, SubTasksOfAGraph) {
  TestTree tree;
  tree.Type(5000, 52, "FFTS_PLUS");
  tree.Hash(11, "Inner");
  tree.Api(raw::kLevelNode, 5, 100, 200, 11);
  raw::NodeBasicInfo info{};
  info.name = 11;
  info.task_type = 0;
  tree.Record("compact.node_basic_info", raw::kLevelNode, 190, info);
  raw::ContextIdInfo contexts{};
  contexts.name = 11;
  contexts.count = 2;
  contexts.ids[0] = 4;
  contexts.ids[1] = 5;
  tree.Record("additional.context_id_info", raw::kLevelNode, 190, contexts);
  tree.Task(150, 2, 5, raw::kTaskFftsPlus);
  tree.Run(0, 2, 5, 1000, 2000);
  for (const uint16_t context : {uint16_t{4}, uint16_t{5}}) {
    for (const uint16_t function : {raw::kSubTaskStart, raw::kSubTaskEnd}) {
      raw::StarsLog log{};
      log.head = function;
      log.magic = raw::kStarsMagic;
      log.stream = 2;
      log.task = 5;
      log.context = context;
      log.time = 1000 + context * 100u + (function == raw::kSubTaskEnd ? 50 : 0);
      tree.Append("device_0/data/stars_soc.data.0.slice_0", log);
    }
  }
  const store::TraceStore out = ReadTree(tree);
  ASSERT_EQ(out.kernels.size(), 2u);
  EXPECT_EQ(out.kernels.context_id[0], 4);
  EXPECT_EQ(out.kernels.begin_ns[1], 1500);
  EXPECT_EQ(out.kernels.dur_ns[1], 50);
  EXPECT_EQ(out.device_tasks.size(), 3u);
}

TEST(ReadProfLayouts, WideStreams) {
  TestTree tree;
  tree.Type(5000, 0, "KERNEL_AICORE");
  tree.Hash(11, "Wide");
  raw::ExpandStreamSpec spec{};
  spec.status = 1;
  tree.Record("compact.expand_stream_spec", raw::kLevelRuntime, 1, spec);
  tree.Api(raw::kLevelNode, 5, 100, 200, 11);
  raw::TaskTrackV2 track{};
  track.stream = 5000;
  track.task = 6;
  track.type = raw::kTaskKernelAicore;
  tree.Record("compact.task_track_v2", raw::kLevelRuntime, 150, track);
  tree.Run(0, static_cast<uint16_t>(0x8000 | 6), 5000, 1000, 1100);  // exchanged
  const store::TraceStore out = ReadTree(tree);
  ASSERT_EQ(out.kernels.size(), 1u);
  EXPECT_EQ(out.kernels.stream[0], 5000);
  EXPECT_EQ(out.kernels.task_id[0], 6);
}

// Version 2.0: other places, and times of the day.
TEST(ReadProfLayouts, SamplesOfVersionTwo) {
  TestTree tree;
  SetChip(tree, 5, R"({"llc_profiling":"read"})", "2.0");
  for (const uint64_t time : {uint64_t{1'000'000'000}, uint64_t{2'000'000'000}}) {
    tree.Append("device_0/data/hbm.data.0.slice_0", raw::HbmSampleV2{0, 0, 3, 32768, time});
    tree.Append("device_0/data/llc.data.0.slice_0", raw::LlcSampleV2{0, 256, 0, 1, time});
  }
  tree.Append("device_0/data/npu_mem.data.0.slice_0", raw::NpuMemory{0, 1, 5, 1024, 2048});
  const std::vector<std::string> rows = Samples(ReadTree(tree));
  const auto has = [&](std::string_view row) {
    EXPECT_NE(std::find(rows.begin(), rows.end(), row), rows.end()) << row;
  };
  has("HBM 3/Read Read(MB/s) 1000000000 0.000000");
  has("HBM 3/Read Read(MB/s) 2000000000 1.000000");
  has("LLC 1 Read/Throughput Throughput(MB/s) 2000000000 1.000000");
  has("Device/DDR KB 5000 1.000000");
}

TEST(ReadProfLayouts, QualityOfServiceInStarsOwnSamples) {
  TestTree tree;
  SetChip(tree, 5, R"({"qosEvents":"A,B"})");
  std::string bytes(64, '\0');
  raw::StarsSample sample{};
  sample.magic = raw::kStarsMagic;
  sample.time = 50;
  for (const uint16_t die : {uint16_t{0}, uint16_t{1}}) {
    sample.head = static_cast<uint16_t>(raw::kQosSample | die << 10);
    std::memcpy(bytes.data(), &sample, sizeof(sample));
    const uint32_t values[] = {7U + die, 9U + die};
    std::memcpy(bytes.data() + raw::kQosAt, values, sizeof(values));
    tree.AppendBytes("device_0/data/stars_soc_profile.data.0.slice_0", bytes);
  }
  EXPECT_EQ(Samples(ReadTree(tree)),
            (std::vector<std::string>{"QoS A value 50 7.000000", "QoS B value 50 9.000000",
                                      "QoS A die 1 50 8.000000", "QoS B die 1 50 10.000000"}));
}

// Kernels of AI CPU as earlier runtimes report them.
TEST(ReadProfLayouts, AicpuOfTheOldReporter) {
  TestTree tree;
  raw::AicpuNodeOld node{};
  node.magic = raw::kHostMagic;
  node.tag = raw::kAicpuNodeTag;
  node.stream = 3;
  node.task = 4;
  node.run_start = 2000;
  node.run_end = 5000;
  node.compute_us = 10;
  node.copy_us = 14;
  node.copy_end_us = 20;
  node.submit = 1000;
  node.after_run = 9000;
  node.dispatch_us = 6;
  tree.Append("device_0/data/DATA_PREPROCESS.AICPU.0.slice_0", node);
  const store::TraceStore out = ReadTree(tree);
  const store::DynamicTable& sheet = Sheet(out, "aicpu");
  ASSERT_EQ(sheet.size(), 1u);
  const double expected[] = {2, 0, 4, 6, 3, 6, 8, 3, 4};  // Timestamp(us) to Task ID
  for (size_t i = 0; i < std::size(expected); ++i) {
    if (!sheet.columns[1 + i].is_text())
      EXPECT_DOUBLE_EQ(sheet.columns[1 + i].numbers[0], expected[i]) << sheet.columns[1 + i].name;
  }
  EXPECT_TRUE(out.issues.empty());
}

// Turns of a collective that is fused with an operator, on the stream of their kernel.
TEST(ReadProfLayouts, TurnsOfFusedCollectives) {
  TestTree tree;
  raw::AicpuCommTurn turn{};
  uint64_t times[7];
  for (size_t i = 0; i < 7; ++i) times[i] = 1000 + i * 10;
  std::memcpy(&turn, times, sizeof(times));
  turn.stream = 30;
  turn.task = 4;
  turn.turn = 2;
  tree.Aicpu(raw::kAicpuCommTurn, 5, turn);
  raw::AicpuComputeTurn compute{};
  const uint64_t compute_times[] = {2000, 2005, 2100};
  std::memcpy(&compute, compute_times, sizeof(compute_times));
  compute.stream = 31;
  compute.turn = 2;
  tree.Aicpu(raw::kAicpuComputeTurn, 5, compute);
  const store::TraceStore out = ReadTree(tree);
  std::vector<std::string> rows;
  for (size_t i = 0; i < out.slices.size(); ++i) {
    const auto track = static_cast<size_t>(out.slices.track[i]);
    rows.push_back(std::string(out.Text(out.tracks.name[track])) + ": " +
                   std::string(out.Text(out.slices.name[i])) + " " +
                   std::to_string(out.slices.begin_ns[i]) + " " +
                   std::to_string(out.slices.dur_ns[i]));
  }
  EXPECT_EQ(rows, (std::vector<std::string>{
                      "Stream 30: StartServer 2 1000 10", "Stream 30: TaskWaitRequest 2 1010 10",
                      "Stream 30: TaskOrchestration 2 1020 10", "Stream 30: TaskLaunch 2 1030 10",
                      "Stream 30: TaskExecute 2 1040 10", "Stream 30: Finalize 2 1050 10",
                      "Stream 31: WaitCompute 2 2000 5", "Stream 31: Compute 2 2005 95"}));
  EXPECT_EQ(Sheet(out, "prof_turns").size(), 8u);
}

TEST(ReadProfLayouts, MemoryThatAGraphSetsAside) {
  TestTree tree;
  tree.Hash(1, "resnet");
  tree.Hash(2, "Conv");
  tree.Record("additional.graph_id_map", raw::kLevelModel, 1, raw::GraphIdMap{1, 5, 6});
  raw::StaticOpMem memory{};
  memory.size = 3072;
  memory.name = 2;
  memory.life_start = 10;
  memory.life_end = 12;
  memory.graph = 5;
  tree.Record("additional.static_op_mem", raw::kLevelNode, 1, memory);
  const store::TraceStore out = ReadTree(tree);
  const store::DynamicTable& sheet = Sheet(out, "static_op_mem");
  ASSERT_EQ(sheet.size(), 1u);
  EXPECT_EQ(out.Text(sheet.columns[1].texts[0]), "Conv");
  EXPECT_EQ(out.Text(sheet.columns[2].texts[0]), "resnet");
  EXPECT_EQ(sheet.columns[3].numbers[0], 5);
  EXPECT_EQ(sheet.columns[5].numbers[0], 12);
  EXPECT_EQ(sheet.columns[6].numbers[0], 3);
}

// Counters of each core every ms: 250 of 1000 cycles a us busy.
TEST(ReadProfLayouts, SamplesOfCores) {
  for (const int chip : {5, 15}) {
    SCOPED_TRACE(chip);
    TestTree tree;
    SetChip(tree, chip,
            R"({"ai_core_profiling_mode":"sample-based","ai_core_metrics":"PipeUtilization",)"
            R"("ai_core_profiling_events":"0x8,0xa,0x9,0xb,0xc,0xd,0x54,0x55"})");
    for (const uint8_t core : {uint8_t{0}, uint8_t{1}}) {
      for (uint64_t i = 1; i <= 2; ++i) {
        const auto fill = [&](auto sample) {
          sample.time = i * 1'000'000;
          sample.cycles = 250'000;
          sample.core = core;
          sample.counters[1] = core == 0 ? 125'000 : 0;  // mac
          tree.Append("device_0/data/aicore.data.0.slice_0", sample);
        };
        if (chip == 5) fill(raw::CoreSample{});
        if (chip == 15) fill(raw::CoreSample950{});
      }
    }
    const store::TraceStore out = ReadTree(tree);
    EXPECT_EQ(Samples(out), (std::vector<std::string>{"Core 0 Usage(%) 2000000 25.000000",
                                                      "Core 1 Usage(%) 2000000 25.000000"}));
    const store::DynamicTable& sheet = Sheet(out, "ai_core_utilization");
    ASSERT_EQ(sheet.size(), 3u);
    EXPECT_EQ(out.Text(sheet.columns[1].texts[2]), "Average");
    for (const store::DynamicColumn& column : sheet.columns) {
      EXPECT_FALSE(column.name.ends_with("time(us)")) << column.name;
      if (column.name != "mac_ratio") continue;
      EXPECT_DOUBLE_EQ(column.numbers[0], 0.5);
      EXPECT_DOUBLE_EQ(column.numbers[1], 0);
      EXPECT_DOUBLE_EQ(column.numbers[2], 0.25);
    }
    const store::DynamicTable& all = Sheet(out, "prof_core_samples");
    ASSERT_EQ(all.size(), 4u);
    EXPECT_DOUBLE_EQ(all.columns[3].numbers[1], 25);
    EXPECT_EQ(out.kernel_metrics.size(), 0u);
    EXPECT_TRUE(out.issues.empty());
  }
}

TEST(ReadProfLayouts, EnginesForPictures) {
  TestTree tree;
  tree.AppendBytes("device_0/data/dvpp.data.0.slice_0",
                   "time dvpp engine_type engine_id all_time ...\n"
                   "10:5 0 2 1 100 4 12% 1 1 1% 2 3\n"
                   "11:5 0 2 1 250 9 8% 1 1 1% 2 3\n"
                   "11:5 0 3 0 50 1 2% 1 1 1% 2 3\n"
                   "broken\n12:5 0 x\n");
  const store::TraceStore out = ReadTree(tree);
  const store::DynamicTable& sheet = Sheet(out, "dvpp");
  ASSERT_EQ(sheet.size(), 2u);
  EXPECT_EQ(sheet.columns[2].numbers[0], 2);
  EXPECT_EQ(sheet.columns[3].numbers[0], 1);
  EXPECT_EQ(sheet.columns[4].numbers[0], 250);
  EXPECT_EQ(sheet.columns[5].numbers[0], 9);
  EXPECT_EQ(sheet.columns[6].numbers[0], 12);
  EXPECT_EQ(out.issues.entry(store::IssueKind::kRecordDamaged).count, 1u);
}

TEST(ReadProfLayouts, FamiliesThatAreNotReadAreNamed) {
  TestTree tree;
  tree.AppendBytes("device_0/data/ccu0.instr.0.slice_0", "x");
  tree.AppendBytes("host/data/aging.additional.new_kind.slice_0", "x");
  tree.AppendBytes("host/data/aging.additional.logic_stream_info.slice_0", "x");
  const store::TraceStore out = ReadTree(tree);
  const auto& entry = out.issues.entry(store::IssueKind::kEventKindIgnored);
  EXPECT_EQ(entry.count, 2u);
  EXPECT_EQ(entry.example, "host: 'additional.new_kind' is not read");
}

}  // namespace
}  // namespace steplens::readers
