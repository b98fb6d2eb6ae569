#include "readers/framework/framework.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "format/device_record.h"
#include "readers/framework/test_capture.h"

namespace steplens::readers {
namespace {

using framework_test::Issues;
using framework_test::TestCapture;
using store::IssueKind;
using testing::ElementsAre;

std::vector<std::string> Names(const store::TraceStore& store) {
  std::vector<std::string> out;
  for (const StringId name : store.slices.name) out.emplace_back(store.Text(name));
  return out;
}

std::string Cell(const store::TraceStore& store, const std::string& sheet, size_t column) {
  for (const store::DynamicTable& one : store.sheets) {
    if (one.name == sheet) return std::string(store.Text(one.columns[column].texts[0]));
  }
  return "no such sheet";
}

TEST(Framework, ReadsAnOperatorWithAllItsTexts) {
  TestCapture capture;
  format::OpRange op{100, 250, 3, 5, 7, 8, 0, 1, true};
  capture.Add(FrameworkFile::kOpRange, format::kOpRangeRecord, op,
              {{2, "aten::mm"},
               {3, "float;None"},
               {4, "2,3;"},
               {5, "0x1;;f;4;;;cpu;0"},
               {8, "a.py(1): f;b.py(2): g"},
               {9, "net"},
               {77, "unknown tags are ignored"}});
  const store::TraceStore store = capture.Read(RawClock({.wall_minus_monotonic_ns = 1000}));
  ASSERT_EQ(store.slices.size(), 1u);
  EXPECT_EQ(store.slices.begin_ns[0], 1100);
  EXPECT_EQ(store.slices.dur_ns[0], 150);
  EXPECT_EQ(store.Text(store.slices.category[0]), "cpu_op");
  EXPECT_EQ(store.Text(store.host_ops.input_shapes[0]), "2,3;");
  EXPECT_EQ(store.Text(store.host_ops.input_types[0]), "float;None");
  EXPECT_EQ(store.Text(store.host_ops.call_stack[0]), "a.py(1): f;b.py(2): g");
  EXPECT_EQ(store.Text(store.host_ops.module_hierarchy[0]), "net");
  EXPECT_EQ(store.host_ops.sequence_number[0], 3);
  EXPECT_EQ(store.host_ops.scope[0], 1u);
  EXPECT_EQ(Cell(store, "framework_tensors", 1), "0x1;;f;4;;;cpu;0");
  const auto track = static_cast<size_t>(store.slices.track[0]);
  EXPECT_EQ(store.Text(store.tracks.name[track]), "Thread 7");
  EXPECT_EQ(store.Text(store.tracks.pid[track]), "5");
  EXPECT_TRUE(store.issues.empty());
}

TEST(Framework, LeavesOutTensorsThatNobodyWants) {
  TestCapture capture;
  capture.Add(FrameworkFile::kOpRange, format::kOpRangeRecord, format::OpRange{},
              {{2, "aten::mm"}, {5, "0x1;;f;4;;;cpu;0"}});
  capture.Add(FrameworkFile::kParamTensors, format::kParamRecord, format::Keyed{1}, {{1, "w)t)"}});
  ReadOptions options;
  options.wanted.tensors = false;
  const store::TraceStore store = capture.Read(RawClock(), options);
  EXPECT_TRUE(store.sheets.empty());
  EXPECT_FALSE(store.strings.Find("0x1;;f;4;;;cpu;0"));
  EXPECT_EQ(store.slices.size(), 1u);
}

TEST(Framework, ReadsOperatorsOf2023) {
  TestCapture capture;
  std::vector<uint8_t>& file = capture.File(FrameworkFile::kOpRange);
  format::TlvWriter writer(file, 1, 57);
  format::Store<int64_t>(writer.fixed(), 0, 10);
  format::Store<int64_t>(writer.fixed(), 8, 30);
  format::Store<int64_t>(writer.fixed(), 16, -1);
  format::Store<uint64_t>(writer.fixed(), 32, 9);
  writer.Field(3, "aten::add");
  writer.Field(5, "1,2");
  writer.Field(6, "f.py(1): f");
  const store::TraceStore store = capture.Read();
  EXPECT_THAT(Names(store), ElementsAre("aten::add"));
  EXPECT_EQ(store.Text(store.host_ops.input_shapes[0]), "1,2");
  EXPECT_EQ(store.Text(store.host_ops.call_stack[0]), "f.py(1): f");
  EXPECT_EQ(store.host_ops.scope[0], 0u);
  EXPECT_TRUE(store.issues.empty());
}

TEST(Framework, ReplacesTextThatIsNotUtf8) {
  TestCapture capture;
  capture.Op("\xff\xfe", 0, 1);
  capture.Op("\xff\xfe", 2, 3);
  const store::TraceStore store = capture.Read();
  EXPECT_THAT(Names(store), ElementsAre("N/A", "N/A"));
  EXPECT_EQ(Issues(store, IssueKind::kInvalidUtf8), 2u);
}

TEST(Framework, SkipsDamagedRecordsAndGoesOn) {
  TestCapture capture;
  capture.Op("a", 0, 10);
  std::vector<uint8_t>& file = capture.File(FrameworkFile::kOpRange);
  {
    format::TlvWriter short_record(file, 1, 20);
  }
  const size_t at = file.size();
  capture.Op("bad field", 0, 10);
  file[at + 6 + 58 + 2] = 200;  // the field's length
  capture.Op("backwards", 10, 3);
  const store::TraceStore store = capture.Read();
  EXPECT_THAT(Names(store), ElementsAre("a", "backwards"));
  EXPECT_EQ(Issues(store, IssueKind::kRecordDamaged), 2u);
  EXPECT_EQ(Issues(store, IssueKind::kNegativeDuration), 1u);
  EXPECT_EQ(store.slices.dur_ns[1], 0);
}

TEST(Framework, ReadsWhatIsWholeWhereverTheFileEnds) {
  TestCapture whole;
  whole.Op("first", 0, 10);
  const size_t one = whole.File(FrameworkFile::kOpRange).size();
  whole.Op("second", 10, 20);
  const std::vector<uint8_t> bytes = whole.File(FrameworkFile::kOpRange);
  for (size_t size = 0; size <= bytes.size(); ++size) {
    TestCapture cut;
    cut.File(FrameworkFile::kOpRange)
        .assign(bytes.begin(), bytes.begin() + static_cast<long>(size));
    const store::TraceStore store = cut.Read();
    EXPECT_EQ(store.slices.size(), size / one >= 1 ? (size == bytes.size() ? 2u : 1u) : 0u) << size;
    const bool is_border = size == 0 || size == one || size == bytes.size();
    EXPECT_EQ(Issues(store, IssueKind::kRecordsTruncated), is_border ? 0u : 1u) << size;
  }
}

TEST(Framework, DoesNotBelieveAnAbsurdLength) {
  TestCapture capture;
  capture.Op("a", 0, 10);
  std::vector<uint8_t>& file = capture.File(FrameworkFile::kOpRange);
  file.insert(file.end(), {1, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0});
  const store::TraceStore store = capture.Read();
  EXPECT_EQ(store.slices.size(), 1u);
  EXPECT_EQ(Issues(store, IssueKind::kRecordsTruncated), 1u);
}

TEST(Framework, TakesStepsFromTheirRanges) {
  TestCapture capture;
  capture.Op("ProfilerStep#50", 10, 90, 1, -1, 0, 7);
  capture.Op("ProfilerStep#x", 10, 90, 1, -1, 0, 7);
  const store::TraceStore store = capture.Read();
  ASSERT_EQ(store.steps.size(), 1u);
  EXPECT_EQ(store.steps.step[0], 50);
  EXPECT_EQ(store.steps.end_ns[0], 90);
}

TEST(Framework, JoinsForwardAndBackwardThatDoNotRunInsideEachOther) {
  TestCapture capture;
  capture.Op("early", 0, 5, 1, 4);
  capture.Op("forward", 10, 20, 1, 4);
  capture.Op("backward", 30, 40, 2, 4, 1);
  capture.Op("alone", 50, 60, 1, 6);
  capture.Op("same thread", 50, 60, 1, 7);
  capture.Op("same thread", 60, 70, 1, 7, 1);
  capture.Op("around", 80, 90, 1, 8);
  capture.Op("inside", 85, 88, 1, 8, 1);
  const store::TraceStore store = capture.Read();
  ASSERT_EQ(store.flows.size(), 2u);
  EXPECT_EQ(store.Text(store.flows.kind[0]), "fwdbwd");
  EXPECT_EQ(store.flows.from_ns[0], 10);
  EXPECT_EQ(store.flows.to_ns[0], 30);
  EXPECT_EQ(store.flows.from_ns[1], 50);
  EXPECT_EQ(store.flows.to_ns[1], 60);
}

TEST(Framework, ReadsTheByteExampleOfAnOpMark) {
  TestCapture capture;
  const std::vector<uint8_t> end{0x02, 0x00, 0x2F, 0x00, 0x00, 0x00, 5, 0, 0, 0, 0,   0, 0, 0,
                                 1,    0,    0,    0,    0,    0,    0, 0, 7, 0, 0,   0, 0, 0,
                                 0,    0,    3,    0,    0,    0,    0, 0, 0, 0, 2,   0, 0, 0,
                                 0,    0,    0,    0,    1,    0,    1, 0, 0, 0, 0x78};
  ASSERT_EQ(end.size(), 53u);
  capture.File(FrameworkFile::kOpMark) = end;
  EXPECT_EQ(Issues(capture.Read(), IssueKind::kCallWithoutReturn), 1u);  // an end without a start
  std::vector<uint8_t> both = end;
  both[6] = 1;   // time
  both[14] = 0;  // category: enqueue start
  both.insert(both.end(), end.begin(), end.end());
  capture.File(FrameworkFile::kOpMark) = both;
  const store::TraceStore store = capture.Read();
  ASSERT_EQ(store.slices.size(), 1u);
  EXPECT_EQ(store.slices.begin_ns[0], 1);
  EXPECT_EQ(store.slices.dur_ns[0], 4);
  EXPECT_EQ(store.slices.correlation[0], 7);
  EXPECT_EQ(store.Text(store.tracks.tid[static_cast<size_t>(store.slices.track[0])]), "3");
}

TEST(Framework, PairsQueueItems) {
  TestCapture capture;
  capture.Queue("add", 10, 0, 0, 1);
  capture.Queue("add", 12, 0, 0, 1);  // the latest start counts
  capture.Queue("add", 15, 1, 8, 1);
  capture.Queue("add", 20, 2, 8, 2);
  capture.Queue("add", 25, 3, 8, 2);
  capture.Queue("mul", 30, 0, 0, 1);
  capture.Queue("mul", 35, 1, 9, 1);  // never taken from the queue
  const store::TraceStore store = capture.Read();
  EXPECT_THAT(Names(store), ElementsAre("Dequeue@add", "Enqueue@add", "Enqueue"));
  EXPECT_EQ(store.slices.begin_ns[1], 12);
  ASSERT_EQ(store.flows.size(), 1u);
  EXPECT_EQ(store.flows.from_ns[0], 12);
  EXPECT_EQ(store.flows.to_ns[0], 20);
  const auto dequeue = static_cast<size_t>(store.slices.track[0]);
  EXPECT_EQ(store.tracks.sort_index[dequeue], 3);  // behind threads 1 and 2
}

TEST(Framework, ReplaysPythonCalls) {
  TestCapture capture;
  capture.PythonName(1, "main.py(1): main");
  capture.PythonName(2, "Linear######1000");
  capture.PythonName(3, "Linear######2000");
  capture.Python(5, 0, 1);  // returns from what began before the capture
  capture.Python(20, 2, 0);
  capture.Python(30, 0, 1);
  capture.Python(30, 3, 2);
  capture.Python(40, 0, 3);
  capture.Python(50, 99, 0);  // a name that is not in the file, and never returns
  capture.Python(60, 2, 0);
  capture.Python(10, 1, 0);  // the frame that was open at the start is written last
  const store::TraceStore store = capture.Read();
  EXPECT_THAT(Names(store), ElementsAre("nn.Module: Linear_0", "nn.Module: Linear_1",
                                        "nn.Module: Linear_0", "N/A", "main.py(1): main"));
  EXPECT_EQ(store.slices.begin_ns[0], 20);
  EXPECT_EQ(store.slices.dur_ns[0], 10);
  EXPECT_EQ(store.slices.begin_ns[4], 10);
  EXPECT_EQ(store.slices.dur_ns[4], 50);
  EXPECT_EQ(store.slices.correlation[4], 1);  // the second record of the thread
}

TEST(Framework, ReadsPythonCallsOf2024) {
  TestCapture capture;
  std::vector<uint8_t>& calls = capture.File(FrameworkFile::kOldPythonCalls);
  const auto add = [&](uint64_t time, uint8_t tag, std::string_view name) {
    format::TlvWriter writer(calls, 4, 25);
    format::Store<uint64_t>(writer.fixed(), 0, time);
    format::Store<uint64_t>(writer.fixed(), 8, 1);
    format::Store<uint64_t>(writer.fixed(), 16, 5);
    format::Store<uint8_t>(writer.fixed(), 24, tag);
    writer.Field(2, name);
  };
  add(1, 0, "f");
  add(2, 0, "__call__");
  add(3, 1, "");
  add(4, 1, "");
  format::TlvWriter module(capture.File(FrameworkFile::kOldModuleCalls), 5, 24);
  format::Store<uint64_t>(module.fixed(), 0, 1);
  module.Field(2, "1234");
  module.Field(3, "Conv2d");
  EXPECT_THAT(Names(capture.Read()), ElementsAre("nn.Module: Conv2d_0", "f"));
}

TEST(Framework, CutsMemoryEventsIntoBlocks) {
  TestCapture capture;
  capture.Op("aten::empty", 5, 30);
  capture.Op("aten::outer", 0, 100);
  capture.Memory(1, 3, -8, 1);           // older than the capture
  capture.Memory(1, 10, 64, 0, 1, 64);   // malloc
  capture.Memory(1, 40, -64, 2, 1, 64);  // block free
  capture.Memory(1, 41, -64, 1, 1, 0);   // free
  capture.Memory(1, 50, 32, 0, 1, 32);   // the address again, never freed
  capture.Memory(2, 60, 16, 0, 9, 48);   // on a thread without operators
  const store::TraceStore store = capture.Read();
  ASSERT_EQ(store.allocations.size(), 3u);
  EXPECT_EQ(store.Text(store.allocations.name[0]), "aten::empty");
  EXPECT_EQ(store.allocations.release_ns[0], 41);
  EXPECT_EQ(store.allocations.active_release_ns[0], 40);
  EXPECT_EQ(store.allocations.dur_ns[0], 31);
  EXPECT_EQ(store.allocations.release_total_allocated_bytes[0], 0);
  EXPECT_EQ(store.Text(store.allocations.name[1]), "aten::outer");  // aten::empty has ended
  EXPECT_EQ(store.allocations.release_ns[1], store::kNone);
  EXPECT_EQ(store.Text(store.allocations.name[2]), "");
  EXPECT_EQ(store.memory_samples.size(), 6u);
  EXPECT_EQ(store.Text(store.memory_samples.component[0]), "PTA");
  EXPECT_EQ(store.Text(store.memory_samples.device[0]), "NPU:0");
}

TEST(Framework, NamesAllocationsOfTheQueuesThread) {
  TestCapture capture;
  capture.Op("aten::add", 0, 20);
  capture.Op("helper", 5, 18);
  capture.Queue("add", 10, 0, 0, 1);
  capture.Queue("add", 12, 1, 8, 1);
  capture.Queue("add", 30, 2, 8, 2);
  capture.Queue("add", 40, 3, 8, 2);
  capture.Memory(1, 35, 64, 0, 2);
  capture.Memory(2, 45, 64, 0, 2);  // outside every item
  const store::TraceStore store = capture.Read();
  EXPECT_EQ(store.Text(store.allocations.name[0]), "aten::add");  // "helper" is not of aten or npu
  EXPECT_EQ(store.Text(store.allocations.name[1]), "");
}

TEST(Framework, ReadsMemoryOfOlderLayouts) {
  for (const size_t size : {75u, 76u, 77u}) {
    TestCapture capture;
    format::TlvWriter writer(capture.File(FrameworkFile::kMemoryUsage), 3, size);
    format::Store<int64_t>(writer.fixed(), 8, 10);   // time
    format::Store<int64_t>(writer.fixed(), 16, 64);  // size
    format::Store<int8_t>(writer.fixed(), 56, 20);
    format::Store<uint64_t>(writer.fixed(), size - 16, 4);
    format::Store<uint64_t>(writer.fixed(), size - 8, 5);
    const store::TraceStore store = capture.Read();
    ASSERT_EQ(store.allocations.size(), 1u) << size;
    EXPECT_EQ(store.allocations.size_bytes[0], 64) << size;
    EXPECT_EQ(store.Text(store.tracks.tid[1]), "4") << size;
  }
}

TEST(Framework, ReadsGarbageMarksAndCounters) {
  TestCapture capture;
  AppendBare(capture.File(FrameworkFile::kGarbage), format::GcPause{5, 10, 25});
  capture.Add(FrameworkFile::kMarks, format::kMarkRecord,
              format::Mark{1, 30, 50, 6, 7, 5, format::kMarkRange}, {{1, "ProfilerStep#3"}});
  capture.Add(FrameworkFile::kMarks, format::kMarkRecord,
              format::Mark{2, 60, 60, 6, 6, 5, format::kMarkInstant}, {{1, "here"}, {2, "mine"}});
  std::vector<uint8_t>& counters = capture.File(FrameworkFile::kCounters);
  AppendRecord(counters, format::kCounterSeriesRecord, format::Keyed{4}).Field(1, "CPU Usage/0");
  AppendRecord(counters, format::kCounterSampleRecord, format::CounterSample{4, 70, 12.5});
  AppendRecord(counters, format::kCounterSampleRecord, format::CounterSample{9, 70, 1});
  const store::TraceStore store = capture.Read();
  EXPECT_THAT(Names(store), ElementsAre("GC", "ProfilerStep#3", "here"));
  EXPECT_EQ(store.slices.dur_ns[0], 15);
  ASSERT_EQ(store.markers.size(), 2u);
  EXPECT_EQ(store.markers.event_type[0], 2);
  EXPECT_EQ(store.Text(store.markers.domain[0]), "default");
  EXPECT_EQ(store.Text(store.markers.domain[1]), "mine");
  ASSERT_EQ(store.steps.size(), 1u);  // no operator marked any
  EXPECT_EQ(store.steps.step[0], 3);
  ASSERT_EQ(store.counters.size(), 1u);
  EXPECT_EQ(store.counters.value[0], 12.5);
  const auto track = static_cast<size_t>(store.counters.track[0]);
  EXPECT_EQ(store.Text(store.tracks.name[track]), "CPU 0");
  EXPECT_EQ(Issues(store, IssueKind::kRecordDamaged), 1u);  // a sample of no series
}

TEST(Framework, KeepsWhatACollectiveSays) {
  TestCapture capture;
  capture.Add(FrameworkFile::kOpRange, format::kOpRangeRecord, format::OpRange{},
              {{2, "gloo:all_reduce"}, {32, "world"}, {33, "4096"}, {37, "all_reduce"}});
  const store::TraceStore store = capture.Read();
  EXPECT_EQ(Cell(store, "framework_collectives", 1), "world");
  EXPECT_EQ(Cell(store, "framework_collectives", 2), "4096");
  EXPECT_EQ(Cell(store, "framework_collectives", 6), "all_reduce");
}

TEST(Framework, ReadsTheDevicesActivities) {
  TestCapture capture;
  capture.Op("aten::mm", 0, 10);
  const auto add = [&](uint32_t kind, int64_t start, int64_t end, uint32_t place, uint32_t lane,
                       uint64_t correlation, std::string_view name, std::string_view second) {
    format::DeviceActivity activity;
    activity.kind = kind;
    activity.detail = 4;
    activity.start_ns = start;
    activity.end_ns = end;
    activity.place = place;
    activity.lane = lane;
    activity.correlation_id = correlation;
    activity.amount = 1024;
    capture.Add(FrameworkFile::kDevice, format::kDeviceRecord, activity, {{1, name}, {2, second}});
  };
  add(format::kDeviceCommunication, 60, 90, 2, 4, 8, "hcom_allReduce__123_0_1", "group");
  add(format::kDeviceKernel, 20, 50, 2, 3, 7, "MatMul", "KERNEL_AICORE");
  add(format::kDeviceRuntimeApi, 4, 5, 5, 1, 7, "rtLaunch", "");
  add(format::kDeviceNodeApi, 3, 6, 5, 1, 7, "launch", "");
  const store::TraceStore store = capture.Read(RawClock({.wall_minus_monotonic_ns = 1'000'000}));
  ASSERT_EQ(store.kernels.size(), 2u);
  EXPECT_EQ(store.Text(store.kernels.name[0]), "MatMul");
  EXPECT_EQ(store.kernels.begin_ns[0], 20);  // on the epoch already
  EXPECT_EQ(store.kernels.wait_ns[1], 10);
  ASSERT_EQ(store.comm_ops.size(), 1u);
  EXPECT_EQ(store.Text(store.comm_ops.op_type[0]), "hcom_allReduce_");
  EXPECT_EQ(store.Text(store.comm_ops.data_type[0]), "FP32");
  EXPECT_EQ(store.comm_ops.count[0], 1024);
  ASSERT_EQ(store.flows.size(), 1u);
  EXPECT_EQ(store.flows.from_ns[0], 3);  // the node's call, not the runtime's
  EXPECT_EQ(store.flows.to_ns[0], 20);
  EXPECT_EQ(store.info.device, 2);
}

// What is written comes out again, whatever the values and texts.
TEST(Framework, RoundTripsRandomOperators) {
  std::mt19937_64 random(20240101);
  const auto number = [&](uint64_t below) { return random() % below; };
  const auto text = [&] {
    std::string out;
    for (uint64_t i = number(40); i > 0; --i) out += static_cast<char>('!' + number(90));
    return out;
  };
  TestCapture capture;
  struct Written {
    format::OpRange op;
    std::string name, shapes, stack;
  };
  std::vector<Written> all;
  for (int i = 0; i < 500; ++i) {
    Written one;
    one.op.start = static_cast<int64_t>(number(1ULL << 60));
    one.op.end = one.op.start + static_cast<int64_t>(number(1ULL << 40));
    one.op.sequence = static_cast<int64_t>(number(1000)) - 1;
    one.op.process_id = 5;
    one.op.start_thread = one.op.end_thread = number(6);
    one.op.forward_thread = number(2);
    one.op.scope = static_cast<uint8_t>(number(10));
    one.name = text();
    one.shapes = text();
    one.stack = text();
    auto writer =
        AppendRecord(capture.File(FrameworkFile::kOpRange), format::kOpRangeRecord, one.op);
    writer.Field(2, one.name);
    writer.FieldIfAny(4, one.shapes);
    writer.FieldIfAny(8, one.stack);
    all.push_back(one);
  }
  const store::TraceStore store = capture.Read();
  ASSERT_EQ(store.host_ops.size(), all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(store.slices.begin_ns[i], all[i].op.start);
    EXPECT_EQ(store.slices.dur_ns[i], all[i].op.end - all[i].op.start);
    EXPECT_EQ(store.Text(store.slices.name[i]), all[i].name);
    EXPECT_EQ(store.Text(store.host_ops.input_shapes[i]), all[i].shapes);
    EXPECT_EQ(store.Text(store.host_ops.call_stack[i]), all[i].stack);
    EXPECT_EQ(store.host_ops.sequence_number[i], all[i].op.sequence);
    EXPECT_EQ(store.host_ops.scope[i], all[i].op.scope);
    EXPECT_EQ(store.Text(store.tracks.tid[static_cast<size_t>(store.slices.track[i])]),
              std::to_string(all[i].op.start_thread));
  }
  EXPECT_TRUE(store.issues.empty());
}

}  // namespace
}  // namespace steplens::readers
