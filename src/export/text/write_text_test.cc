#include <gtest/gtest.h>

#include <filesystem>

#include "analysis/testing/store_builder.h"
#include "base/json.h"
#include "base/testing/scratch_folder.h"
#include "export/export.h"

namespace steplens::exporting {
namespace {

using analysis::StoreBuilder;

// One operator that launches one kernel in step 7.
StoreBuilder SmallStore() {
  StoreBuilder b;
  b.store.info.source = store::Source::kAscendPt;
  b.store.info.format = store::Format::kText;
  b.store.info.rank = 3;
  const store::TrackId python = b.Process("Python", "CPU", "77");
  const store::TrackId thread = b.Thread(python, "Thread 77");
  const store::TrackId stream = b.ThreadOf("Ascend Hardware", "Stream 2");
  const store::SliceId step = b.Slice(thread, 1000, 90000, "ProfilerStep#7", "cpu_op");
  const store::SliceId op = b.Slice(thread, 2000, 5000, "aten::mul", "cpu_op");
  b.Slice(stream, 10000, 12500, "Mul_1", "AI_CORE", 5);
  b.store.host_ops.Append({.slice = step, .sequence_number = -1, .fwd_thread = 0});
  b.store.host_ops.Append({.slice = op,
                           .sequence_number = 4,
                           .fwd_thread = 0,
                           .input_shapes = b.Text("2,3;4"),
                           .input_types = b.Text("float;long int"),
                           .call_stack = b.Text("f.py(1): f;main.py(2): main")});
  b.Step(7, 1000, 90000);
  b.Flow("async_npu", thread, 2000, stream, 10000);
  b.Kernel("Mul_1", "Mul", "AI_CORE", 10000, 12500);
  return b;
}

Status Write(const store::TraceStore& store, const std::string& dir, size_t threads = 1) {
  ThreadPool pool(threads);
  return WriteText(store, {}, dir, pool);
}

Status WriteRaw(const store::TraceStore& store, const std::string& dir) {
  ExportOptions options;
  options.is_raw = true;
  ThreadPool pool(1);
  return WriteText(store, options, dir, pool);
}

TEST(WriteText, TraceHasTheKeysOfTheReferenceInItsOrder) {
  const StoreBuilder b = SmallStore();
  ScratchFolder folder;
  ASSERT_TRUE(Write(b.store, folder.path()).ok());
  const std::string trace = folder.Read("trace_view.json");
  EXPECT_NE(trace.find(R"({"ph": "X", "name": "aten::mul", "pid": 77, "tid": 0, "ts": "2.000", )"
                       R"("dur": 3.0, "cat": "cpu_op", "args": {"Sequence number": 4, )"
                       R"("Fwd thread id": 0, "Input Dims": "2,3;\r\n4", )"
                       R"("Input type": "float;\r\nlong int", )"
                       R"("Call stack": "f.py(1): f;\r\nmain.py(2): main"}})"),
            trace.npos)
      << trace;
  EXPECT_NE(trace.find(R"({"ph": "s", "bp": "e", "name": "torch_to_npu", "id": 10000, "pid": 77, )"
                       R"("tid": 0, "ts": "2.000", "cat": "async_npu"})"),
            trace.npos)
      << trace;
  EXPECT_NE(trace.find(R"("name": "Overlap Analysis")"), trace.npos);
  EXPECT_TRUE(JsonDocument::Parse(trace, "trace").ok());
}

TEST(WriteText, TraceHasModulesOfScriptedCodeAndOfPython) {
  StoreBuilder b = SmallStore();
  const store::TrackId thread = b.store.slices.track[0];
  const store::SliceId op = b.Slice(thread, 6000, 7000, "aten::add", "cpu_op");
  b.store.host_ops.Append({.slice = op,
                           .sequence_number = -1,
                           .fwd_thread = 0,
                           .module_hierarchy = b.Text("net;net.fc")});
  b.Slice(thread, 8000, 9000, "nn.Module: Linear_12", "python_function");
  ScratchFolder folder;
  ASSERT_TRUE(Write(b.store, folder.path()).ok());
  const std::string trace = folder.Read("trace_view.json");
  EXPECT_NE(trace.find(R"("Fwd thread id": 0, "Module Hierarchy": "net;\r\nnet.fc"}})"), trace.npos)
      << trace;
  EXPECT_NE(
      trace.find(R"("args": {"Python id": 0, "Python parent id": 0, "Python module id": 12}})"),
      trace.npos)
      << trace;
}

TEST(WriteText, TaskTimeIsWrittenWhereItIsWanted) {
  const StoreBuilder b = SmallStore();
  ScratchFolder folder;
  ThreadPool pool(1);
  ExportOptions options;
  ASSERT_TRUE(WriteText(b.store, options, folder.path(), pool).ok());
  EXPECT_FALSE(folder.Has("task_time.csv"));
  options.is_raw = true;
  ASSERT_TRUE(WriteText(b.store, options, folder.path(), pool).ok());
  EXPECT_EQ(folder.Read("task_time.csv"),
            "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),"
            "task_stop(us)\r\n"
            "0,Mul_1,AI_CORE,0,N/A,2.500,10.000\t,12.500\t\r\n");
}

TEST(WriteText, KernelColumnsThatNeverChangeAreWrittenInEveryRow) {
  StoreBuilder b = SmallStore();
  b.Kernel("Add_1", "Add", "AI_CORE", 20000, 21000);
  ScratchFolder folder;
  ASSERT_TRUE(Write(b.store, folder.path()).ok());
  const std::string csv = folder.Read("kernel_details.csv");
  EXPECT_NE(csv.find("7,N/A,N/A,N/A,Add_1,Add,N/A,AI_CORE,20.000\t,1.000\t,7.500\t,N/A,N/A,N/A,"
                     "N/A,N/A,N/A,N/A,N/A,N/A,N/A\r\n"),
            csv.npos)
      << csv;
}

TEST(WriteText, OperatorsComeInTheOrderOfTheirEnds) {
  const StoreBuilder b = SmallStore();
  ScratchFolder folder;
  ASSERT_TRUE(Write(b.store, folder.path()).ok());
  const std::string trace = folder.Read("trace_view.json");
  EXPECT_LT(trace.find("aten::mul"), trace.find("ProfilerStep#7"));
}

TEST(WriteText, KernelDetailsHasTabsCrlfAndNotAvailable) {
  const StoreBuilder b = SmallStore();
  ScratchFolder folder;
  ASSERT_TRUE(Write(b.store, folder.path()).ok());
  EXPECT_EQ(folder.Read("kernel_details.csv"),
            "Step Id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,"
            "Start Time(us),Duration(us),Wait Time(us),Block Dim,Mix Block Dim,HF32 Eligible,"
            "Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,"
            "Output Formats,Context ID\r\n"
            "7,N/A,N/A,N/A,Mul_1,Mul,N/A,AI_CORE,10.000\t,2.500\t,0.000\t,N/A,N/A,N/A,"
            "N/A,N/A,N/A,N/A,N/A,N/A,N/A\r\n");
}

TEST(WriteText, OperatorDetailsLeavesOutStepsAndSumsKernels) {
  const StoreBuilder b = SmallStore();
  ScratchFolder folder;
  ASSERT_TRUE(Write(b.store, folder.path()).ok());
  const std::string csv = folder.Read("operator_details.csv");
  EXPECT_EQ(csv.substr(csv.find("\r\n") + 2),
            "aten::mul,\"2,3;\r\n4\",\"f.py(1): f;\r\nmain.py(2): main\",3.0,3.0,2.5,2.5,2.5,2.5"
            "\r\n");
}

TEST(WriteText, FilesWithoutRowsAreNotCreated) {
  StoreBuilder b;
  b.store.memory_samples.Append({.component = b.Text("APP"),
                                 .ts_ns = 1736408883573957920,
                                 .reserved_bytes = int64_t{2109} * 1024 * 1024,
                                 .device = b.Text("NPU:0")});
  ScratchFolder folder;
  ASSERT_TRUE(Write(b.store, folder.path()).ok());
  EXPECT_EQ(folder.FileCount(), 1u);
  EXPECT_EQ(folder.Read("memory_record.csv"),
            "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),"
            "Stream Ptr,Device Type\r\nAPP,1736408883573957.920\t,,2109.0,,,NPU:0\r\n");
}

TEST(WriteText, MindSporeHasItsOwnColumnsAndMegabytes) {
  StoreBuilder b = SmallStore();
  b.store.info.source = store::Source::kAscendMs;
  b.store.memory_samples.Append({.component = b.Text("MindSpore"),
                                 .ts_ns = 1000,
                                 .allocated_bytes = 1024 * 1000,
                                 .device = b.Text("NPU:0")});
  ScratchFolder folder;
  ASSERT_TRUE(Write(b.store, folder.path()).ok());
  EXPECT_EQ(folder.Read("operator_details.csv"), "Name,Input Shapes\r\naten::mul,\"2,3;4\"\r\n");
  EXPECT_TRUE(folder.Read("kernel_details.csv").starts_with("Step ID,Model ID,"));
  EXPECT_EQ(folder.Read("memory_record.csv"),
            "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),"
            "Device Type\r\nMindSpore,1.000\t,1.0,,,NPU:0\r\n");
}

TEST(WriteText, RawCapturesOfMindSporeShowTheirHostAsItsLane) {
  StoreBuilder b = SmallStore();
  b.store.info.source = store::Source::kAscendMs;
  ScratchFolder folder;
  ASSERT_TRUE(WriteRaw(b.store, folder.path()).ok());
  const std::string trace = folder.Read("trace_view.json");
  EXPECT_NE(trace.find(R"({"ph": "X", "name": "aten::mul", "pid": 1, "tid": 0, )"), trace.npos);
  EXPECT_NE(trace.find(R"({"ph": "M", "name": "process_name", "pid": 1, "tid": 0, )"
                       R"("args": {"name": "MindSpore"}})"),
            trace.npos)
      << trace;
  EXPECT_NE(trace.find(R"("name": "process_sort_index", "pid": 1, "tid": 0, )"
                       R"("args": {"sort_index": 1}})"),
            trace.npos)
      << trace;
  EXPECT_EQ(trace.find(R"("pid": 77)"), trace.npos);
}

TEST(WriteText, RawCapturesOfMindSporeHaveTheLaunchingRangeBeforeTheKernel) {
  StoreBuilder b = SmallStore();
  b.store.info.source = store::Source::kAscendMs;
  b.store.host_ops.call_stack.Set(1, StringId::kEmpty);
  const store::TrackId host = b.ThreadOf("MindSpore", "Thread 77");
  b.Slice(host, 2100, 4000, "Kernel::KernelLaunch::Default/Mul-op1");
  b.Flow("async_npu", host, 2100, b.store.slices.track[2], 10000);
  ScratchFolder folder;
  ASSERT_TRUE(WriteRaw(b.store, folder.path()).ok());
  EXPECT_NE(
      folder.Read("kernel_details.csv").find(",Kernel::KernelLaunch::Default/Mul-op1/Mul_1,Mul,"),
      std::string::npos)
      << folder.Read("kernel_details.csv");
  const std::string trace = folder.Read("trace_view.json");
  EXPECT_NE(trace.find(R"("name": "mindspore_to_npu", "id": "10.000", )"), trace.npos) << trace;
  ASSERT_TRUE(Write(b.store, folder.path()).ok());  // names that were read stay
  EXPECT_NE(folder.Read("kernel_details.csv").find(",Mul_1,Mul,"), std::string::npos);
}

TEST(WriteText, RawCapturesOfMindSporeHaveTheCallStackBeforeTheKernel) {
  StoreBuilder b = SmallStore();
  b.store.info.source = store::Source::kAscendMs;
  ScratchFolder folder;
  ASSERT_TRUE(WriteRaw(b.store, folder.path()).ok());
  EXPECT_NE(folder.Read("kernel_details.csv").find(",f.py(1): f;main.py(2): main/Mul_1,Mul,"),
            std::string::npos)
      << folder.Read("kernel_details.csv");
  b.store.info.source = store::Source::kAscendPt;
  ASSERT_TRUE(WriteRaw(b.store, folder.path()).ok());
  EXPECT_NE(folder.Read("kernel_details.csv").find(",Mul_1,Mul,"), std::string::npos);
}

TEST(WriteText, MindSporeSumsUpTheDataPipeline) {
  StoreBuilder b = SmallStore();
  b.store.info.source = store::Source::kAscendMs;
  const store::TrackId host = b.ThreadOf("MindSpore", "Thread 77");
  b.Slice(host, 3000, 4000, "Dataset::Batch::fetch");
  b.Slice(host, 5000, 6000, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
  b.Slice(host, 7000, 10000, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
  ScratchFolder folder;
  ASSERT_TRUE(WriteRaw(b.store, folder.path()).ok());
  EXPECT_EQ(folder.Read("dataset.csv"),
            "Operation,Stage,Occurrences,Avg. time (us),Custom Info\r\nBatch,fetch,1,1.0,\r\n"
            "_SingleProcessDataLoaderIter,__next__,2,2.0,\r\n");
}

TEST(WriteText, MindSporeHasOperatorDetailsOnlyWithShapes) {
  StoreBuilder b = SmallStore();
  b.store.info.source = store::Source::kAscendMs;
  for (size_t i = 0; i < b.store.host_ops.size(); ++i) {
    b.store.host_ops.input_shapes.Set(i, StringId::kEmpty);
  }
  ScratchFolder folder;
  ASSERT_TRUE(Write(b.store, folder.path()).ok());
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/operator_details.csv"));
}

TEST(WriteText, BytesDoNotDependOnThreads) {
  const StoreBuilder b = SmallStore();
  ScratchFolder one;
  ScratchFolder seven;
  ASSERT_TRUE(Write(b.store, one.path(), 1).ok());
  ASSERT_TRUE(Write(b.store, seven.path(), 7).ok());
  for (const char* name : {"trace_view.json", "kernel_details.csv", "operator_details.csv"})
    EXPECT_EQ(one.Read(name), seven.Read(name)) << name;
}

TEST(WriteText, SaysWhichFolderCannotBeCreated) {
  const Status status = Write({}, "/proc/no/such/folder");
  ASSERT_FALSE(status.ok());
  EXPECT_TRUE(
      status.error().message.starts_with("/proc/no/such/folder: the folder cannot be "
                                         "created: "))
      << status.error().message;
}

TEST(WriteStacks, TurnsFramesAroundAndCutsToMicroseconds) {
  const StoreBuilder b = SmallStore();
  ScratchFolder folder;
  ASSERT_TRUE(WriteStacks(b.store, StackMetric::kHostSelfTime, folder.path() + "/stacks.txt").ok());
  EXPECT_EQ(folder.Read("stacks.txt"), "main.py(2): main;f.py(1): f 3\n");
  ASSERT_TRUE(
      WriteStacks(b.store, StackMetric::kDeviceSelfTime, folder.path() + "/stacks.txt").ok());
  EXPECT_EQ(folder.Read("stacks.txt"), "main.py(2): main;f.py(1): f 2\n");
}

TEST(ParseStackMetric, NamesWhatIsExpected) {
  const auto metric = ParseStackMetric("time");
  ASSERT_FALSE(metric.ok());
  EXPECT_EQ(metric.error().message,
            "metric 'time' is not known: self_cpu_time_total or self_npu_time_total was expected");
}

}  // namespace
}  // namespace steplens::exporting
