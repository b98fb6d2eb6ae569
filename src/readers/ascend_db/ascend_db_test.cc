#include "readers/ascend_db/ascend_db.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/testing/scratch_folder.h"
#include "readers/ascend_db/test_db.h"

namespace steplens::readers {
namespace {

using namespace ascend_db_test;

using store::IssueKind;
using store::kNone;
using store::TraceStore;

constexpr const char* kStrings =
    "CREATE TABLE STRING_IDS(id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO STRING_IDS VALUES "
    "(0,'MatMul'),(1,'KERNEL_AICORE'),(2,'AI_CORE'),(3,'\"32,3\"'),(4,'N/A'),"
    "(5,'launch'),(6,'MEMCPY_ASYNC'),(7,'aic_mac_time'),(8,'aic_l1_read_bw'),(9,'aic_total_time'),"
    "(10,'SDMA'),(11,'Memcpy'),(12,'hcom_allReduce__210_0_1'),(13,'hcom_allReduce_'),(14,'group_a')"
    ","
    "(268435456,'aten::mm'),(268435457,'MmBackward0'),(268435458,'32,3;' || char(13,10) || '3'),"
    "(268435459,'float;' || char(13,10) || 'float'),(268435460,'main.py(7): "
    "step'),(268435461,'main.py(1): <module>'),"
    "(268435462,'Enqueue'),(268435463,'Dequeue@mm');"
    "CREATE TABLE ENUM_API_TYPE(id, name); INSERT INTO ENUM_API_TYPE VALUES (5500,'hccl');";
// Process 77, thread 78.
constexpr const char* kTid = "330712481870";

constexpr const char* kPytorchApi =
    "CREATE TABLE PYTORCH_API(startNs TEXT, endNs TEXT, globalTid, connectionId, name, "
    "sequenceNumber, fwdThreadId,"
    "inputDtypes, inputShapes, callchainId, type);";

std::string Api(const std::string& values) {
  return "INSERT INTO PYTORCH_API VALUES (" + values + ");";
}

std::string Task(const std::string& values) {
  return "CREATE TABLE IF NOT EXISTS TASK(startNs, endNs, deviceId, connectionId, globalTaskId, "
         "globalPid, taskType,"
         "contextId, streamId, taskId, modelId); INSERT INTO TASK VALUES " +
         values + ";";
}

std::string_view SliceName(const TraceStore& store, size_t slice) {
  return store.Text(store.slices.name[slice]);
}

// "Ascend Hardware / Stream 2"
std::string TrackPath(const TraceStore& store, store::TrackId track) {
  const auto row = static_cast<size_t>(track);
  const auto parent = static_cast<size_t>(store.tracks.parent[row]);
  return std::string(store.Text(store.tracks.name[parent])) + " / " +
         std::string(store.Text(store.tracks.name[row]));
}

TEST(ReadProfilerDb, HostOperatorHasTimesShapesAndStack) {
  const TraceStore store =
      ReadDb(std::string(kStrings) + kPytorchApi +
             Api("'1000','1500'," + std::string(kTid) +
                 ",NULL,268435456,5,0,268435459,268435458,3,50001") +
             "CREATE TABLE PYTORCH_CALLCHAINS(id, stack, stackDepth);"
             "INSERT INTO PYTORCH_CALLCHAINS VALUES (3,268435461,1),(3,268435460,0)");
  ASSERT_EQ(store.slices.size(), 1u);
  EXPECT_EQ(store.slices.begin_ns[0], 1000);
  EXPECT_EQ(store.slices.dur_ns[0], 500);
  EXPECT_EQ(SliceName(store, 0), "aten::mm");
  EXPECT_EQ(store.Text(store.slices.category[0]), "cpu_op");
  EXPECT_EQ(TrackPath(store, store.slices.track[0]), "Python / Thread 78");
  ASSERT_EQ(store.host_ops.size(), 1u);
  EXPECT_EQ(store.host_ops.sequence_number[0], 5);
  EXPECT_EQ(store.Text(store.host_ops.input_shapes[0]), "32,3;3");
  EXPECT_EQ(store.Text(store.host_ops.input_types[0]), "float;float");
  EXPECT_EQ(store.Text(store.host_ops.call_stack[0]), "main.py(7): step;main.py(1): <module>");
  EXPECT_TRUE(store.issues.empty());
}

TEST(ReadProfilerDb, ExchangedShapesAndTypesArePutRight) {
  const TraceStore store = ReadDb(
      std::string(kStrings) + kPytorchApi +
      Api("'1','2'," + std::string(kTid) + ",NULL,268435456,-1,0,268435458,268435459,NULL,50001"));
  EXPECT_EQ(store.Text(store.host_ops.input_shapes[0]), "32,3;3");
  EXPECT_EQ(store.Text(store.host_ops.input_types[0]), "float;float");
}

// The forward and backward ops, an enqueue and dequeue pair and a launch all use the same raw id 9.
TEST(ReadProfilerDb, LinksOfEqualIdsAreToldApart) {
  const std::string tid = kTid;
  const TraceStore store =
      ReadDb(std::string(kStrings) + kPytorchApi +
             Api("'100','200'," + tid + ",0,268435456,5,0,NULL,NULL,NULL,50001") +
             Api("'300','400'," + tid + "+1,1,268435457,5,1,NULL,NULL,NULL,50001") +
             Api("'110','120'," + tid + ",2,268435462,NULL,NULL,NULL,NULL,NULL,50002") +
             Api("'130','150'," + tid + "+2,3,268435463,NULL,NULL,NULL,NULL,NULL,50002") +
             Api("'500','600'," + tid + ",4,268435456,-1,0,NULL,NULL,NULL,50001") +
             "CREATE TABLE CONNECTION_IDS(id, connectionId); INSERT INTO CONNECTION_IDS VALUES "
             "(0,9),(1,9),(2,9),(3,9),(4,9);"
             "CREATE TABLE CANN_API(startNs, endNs, type, globalTid, connectionId, name);"
             "INSERT INTO CANN_API VALUES (510,520,10000," +
             tid + ",9,5);" + Task("(700,800,0,9,0,77,1,4294967295,2,1,4294967295)"));
  ASSERT_EQ(store.flows.size(), 4u);
  const auto flow = [&](std::string_view kind) {
    for (size_t i = 0; i < store.flows.size(); ++i) {
      if (store.Text(store.flows.kind[i]) == kind) return store.flows.Get(i);
    }
    return store::FlowTable::Row{};
  };
  EXPECT_EQ(flow("async_task_queue").from_ns, 110);
  EXPECT_EQ(flow("async_task_queue").to_ns, 130);
  EXPECT_EQ(flow("fwdbwd").from_ns, 100);
  EXPECT_EQ(flow("fwdbwd").to_ns, 300);
  EXPECT_EQ(flow("async_npu").from_ns, 500);
  EXPECT_EQ(flow("async_npu").to_ns, 700);
  EXPECT_EQ(flow("HostToDevice").from_ns, 510);
  EXPECT_EQ(flow("HostToDevice").to_ns, 700);
  EXPECT_EQ(TrackPath(store, flow("HostToDevice").from_track), "CANN / Thread 78");
  EXPECT_EQ(store.slices.correlation[2], 9) << "the queue item";
}

TEST(ReadProfilerDb, QueueIdsOfNewFilesLoseTheirOffset) {
  const std::string tid = kTid;
  const TraceStore store =
      ReadDb(std::string(kStrings) + kPytorchApi +
             Api("'1','2'," + tid + ",0,268435462,NULL,NULL,NULL,NULL,NULL,50002") +
             "CREATE TABLE CONNECTION_IDS(id, connectionId);"
             "INSERT INTO CONNECTION_IDS VALUES (0, 5*268435456 + 42)");
  EXPECT_EQ(store.slices.correlation[0], 42);
  EXPECT_EQ(store.Text(store.slices.category[0]), "enqueue");
}

constexpr const char* kComputeInfo =
    "CREATE TABLE COMPUTE_TASK_INFO(name, globalTaskId, blockDim, mixBlockDim, taskType, opType, "
    "inputFormats,"
    "inputDataTypes, inputShapes, outputFormats, outputDataTypes, outputShapes, attrInfo);";

TEST(ReadProfilerDb, KernelsAreOrderedByStartAndWaitForTheRowBefore) {
  const TraceStore store =
      ReadDb(std::string(kStrings) + kComputeInfo +
             "INSERT INTO COMPUTE_TASK_INFO VALUES "
             "(0,10,8,0,2,0,4,4,3,4,4,4,4),(0,11,16,0,2,0,4,4,3,4,4,4,4);" +
             Task("(900,1000,0,2,11,77,1,4294967295,2,6,4294967295),(100,300,0,1,10,77,1,"
                  "4294967295,2,5,4294967295)") +
             "CREATE TABLE COMMUNICATION_OP(opName, startNs, endNs, connectionId, groupName, opId, "
             "dataType, algType, count, opType);"
             "INSERT INTO COMMUNICATION_OP VALUES (12,200,850,3,14,1,4,4,100,13)");
  ASSERT_EQ(store.kernels.size(), 3u);
  EXPECT_EQ(store.kernels.begin_ns[0], 100);
  EXPECT_EQ(store.kernels.wait_ns[0], 0);
  EXPECT_EQ(store.kernels.block_dim[0], 8);
  EXPECT_EQ(store.Text(store.kernels.input_shapes[0]), "32,3");
  EXPECT_EQ(store.Text(store.kernels.input_formats[0]), "");
  EXPECT_EQ(store.kernels.context_id[0], kNone);
  EXPECT_EQ(store.Text(store.kernels.core[1]), "HCCL");
  EXPECT_EQ(store.Text(store.kernels.type[1]), "hcom_allReduce_");
  EXPECT_EQ(store.kernels.wait_ns[1], 0);
  EXPECT_EQ(store.kernels.wait_ns[2], 50);
}

TEST(ReadProfilerDb, BlockNumIsPreferredToBlockDim) {
  const TraceStore store =
      ReadDb(std::string(kStrings) +
             "CREATE TABLE COMPUTE_TASK_INFO(name, globalTaskId, blockNum, blockDim, opState);"
             "INSERT INTO COMPUTE_TASK_INFO VALUES (0,1,20,4,2);" +
             Task("(1,2,0,1,1,77,1,4294967295,2,5,4294967295)"));
  EXPECT_EQ(store.kernels.block_dim[0], 20);
}

TEST(ReadProfilerDb, MetricsHaveTheHeadersAndUnitsOfTheCsv) {
  const TraceStore store =
      ReadDb(std::string(kStrings) + kComputeInfo +
             "INSERT INTO COMPUTE_TASK_INFO VALUES (0,10,8,0,2,0,4,4,3,4,4,4,4);" +
             Task("(1,2,0,1,10,77,1,4294967295,2,5,4294967295)") +
             "CREATE TABLE TASK_PMU_INFO(globalTaskId, name, value);"
             "INSERT INTO TASK_PMU_INFO VALUES (10,9,50522.0),(10,7,1500),(10,8,176.5),(99,7,1)");
  ASSERT_EQ(store.kernel_metrics.size(), 3u);
  EXPECT_EQ(store.kernel_metrics[0].name, "aicore_time(us)");
  EXPECT_DOUBLE_EQ(store.kernel_metrics[0].numbers[0], 50.522);
  EXPECT_EQ(store.kernel_metrics[1].name, "aic_mac_time(us)");
  EXPECT_DOUBLE_EQ(store.kernel_metrics[1].numbers[0], 1.5);
  EXPECT_EQ(store.kernel_metrics[2].name, "aic_l1_read_bw(GB/s)");
  EXPECT_DOUBLE_EQ(store.kernel_metrics[2].numbers[0], 176.5);
  EXPECT_EQ(CountIssues(store, IssueKind::kDbRowInvalid), 1u) << "task 99 does not exist";
}

TEST(ReadProfilerDb, RunsOfAReplayedTaskAreKernelsOfTheirOwn) {
  const TraceStore store =
      ReadDb(std::string(kStrings) + kComputeInfo +
             "INSERT INTO COMPUTE_TASK_INFO VALUES (0,10,8,0,2,0,4,4,3,4,4,4,4);" +
             Task("(1,2,0,1,10,77,1,4294967295,2,5,4294967295),(5,9,0,1,10,77,1,4294967295,2,5,"
                  "4294967295)") +
             "CREATE TABLE TASK_PMU_INFO(globalTaskId, name, value);"
             "INSERT INTO TASK_PMU_INFO VALUES (10,7,1000),(10,7,4000)");
  ASSERT_EQ(store.kernels.size(), 2u);
  EXPECT_EQ(store.kernels.dur_ns[1], 4);
  EXPECT_DOUBLE_EQ(store.kernel_metrics[0].numbers[0], 1);
  EXPECT_DOUBLE_EQ(store.kernel_metrics[0].numbers[1], 4);
}

// Task 5 runs again later, without sub-tasks: task ids are used over and over.
TEST(ReadProfilerDb, TaskWithSubTasksShowsOnlyThose) {
  const TraceStore store =
      ReadDb(std::string(kStrings) + Task("(100,200,0,1,0,77,1,4294967295,2,5,4294967295),"
                                          "(110,190,0,1,1,77,1,0,2,5,4294967295),"
                                          "(900,950,0,2,2,77,1,4294967295,2,5,4294967295)"));
  ASSERT_EQ(store.slices.size(), 2u);
  EXPECT_EQ(store.slices.begin_ns[0], 110);
  EXPECT_EQ(store.slices.begin_ns[1], 900);
}

TEST(ReadProfilerDb, CommunicationTaskShowsOnItsPlaneAndItsStream) {
  const TraceStore store = ReadDb(
      std::string(kStrings) + Task("(100,200,0,7,0,77,10,0,4,5,4294967295)") +
      "CREATE TABLE COMMUNICATION_OP(opName, startNs, endNs, connectionId, groupName, opId, "
      "dataType, algType, count, opType);"
      "INSERT INTO COMMUNICATION_OP VALUES (12,90,210,7,14,1,4,4,100,4);"
      "CREATE TABLE ENUM_HCCL_LINK_TYPE(id, name); INSERT INTO ENUM_HCCL_LINK_TYPE VALUES "
      "(1,'HCCS');"
      "CREATE TABLE COMMUNICATION_TASK_INFO(name, globalTaskId, taskType, planeId, groupName, "
      "notifyId, rdmaType, srcRank,"
      "dstRank, transportType, size, dataType, linkType, opId);"
      "INSERT INTO COMMUNICATION_TASK_INFO VALUES (12,0,11,1,14,0,65535,0,1,0,4096,65535,1,1)");
  ASSERT_EQ(store.comm_tasks.size(), 1u);
  EXPECT_EQ(store.Text(store.comm_tasks.name[0]), "Memcpy");
  EXPECT_EQ(store.Text(store.comm_tasks.link[0]), "HCCS");
  EXPECT_EQ(store.Text(store.comm_tasks.op_name[0]), "hcom_allReduce__210_0_1");
  EXPECT_EQ(store.comm_tasks.begin_ns[0], 100);
  EXPECT_EQ(TrackPath(store, store.comm_tasks.track[0]), "HCCL / Plane 1");
  ASSERT_EQ(store.comm_ops.size(), 1u);
  EXPECT_EQ(TrackPath(store, store.comm_ops.track[0]), "HCCL / Group 0 Communication");
  EXPECT_EQ(store.Text(store.comm_ops.op_type[0]), "hcom_allReduce_") << "from the name";
  ASSERT_EQ(store.slices.size(), 3u);
  EXPECT_EQ(SliceName(store, 2), "SDMA");
  EXPECT_EQ(TrackPath(store, store.slices.track[2]), "Ascend Hardware / Stream 4");
}

TEST(ReadProfilerDb, TracksFollowTheNewNamesWithoutHccl) {
  const TraceStore store = ReadDb(
      "CREATE TABLE STRING_IDS(id, value); INSERT INTO STRING_IDS VALUES "
      "(12,'hcom_send__1_0_1'),(14,'group_a');"
      "CREATE TABLE COMMUNICATION_OP(opName, startNs, endNs, connectionId, groupName, deviceId);"
      "INSERT INTO COMMUNICATION_OP VALUES (12,90,210,7,14,3)");
  EXPECT_EQ(TrackPath(store, store.comm_ops.track[0]),
            "Communication / Group group_a Communication");
  EXPECT_EQ(store.Text(store.tracks.label[FindTrack(store, "Communication")]), "NPU 3");
  EXPECT_EQ(store.Text(store.kernels.core[0]), "COMMUNICATION");
}

TEST(ReadProfilerDb, MemoryIsInBytesWithTheNamesOfTheText) {
  const TraceStore store = ReadDb(
      "CREATE TABLE STRING_IDS(id, value); INSERT INTO STRING_IDS VALUES (1,'app'),(2,'TransData'),"
      "(536870912,'PTA'),(536870913,'aten::empty');"
      "CREATE TABLE NPU_MEM(type, ddr, hbm, timestampNs, deviceId); INSERT INTO NPU_MEM VALUES "
      "(1,1024,2048,50,0);"
      "CREATE TABLE MEMORY_RECORD(component, timestamp, totalAllocated, totalReserved, "
      "totalActive, streamPtr, deviceId);"
      "INSERT INTO MEMORY_RECORD VALUES (536870912,60,1,2,3,4,0);"
      "CREATE TABLE OP_MEMORY(name, size, allocationTime, releaseTime, deviceId);"
      "INSERT INTO OP_MEMORY VALUES (536870913,512,10,NULL,0),(2,256,20,30,0);"
      "CREATE TABLE ENUM_MODULE(id, name); INSERT INTO ENUM_MODULE VALUES (3,'HCCL');"
      "CREATE TABLE NPU_MODULE_MEM(moduleId, timestampNs, totalReserved, deviceId);"
      "INSERT INTO NPU_MODULE_MEM VALUES (3,70,-1024,0)");
  ASSERT_EQ(store.memory_samples.size(), 2u);
  EXPECT_EQ(store.Text(store.memory_samples.component[0]), "APP");
  EXPECT_EQ(store.memory_samples.reserved_bytes[0], 3072);
  EXPECT_EQ(store.memory_samples.allocated_bytes[0], kNone);
  EXPECT_EQ(store.Text(store.memory_samples.device[0]), "NPU:0");
  EXPECT_EQ(store.memory_samples.active_bytes[1], 3);
  EXPECT_EQ(store.Text(store.allocations.name[0]), "aten::empty");
  EXPECT_EQ(store.allocations.release_ns[0], kNone);
  EXPECT_EQ(store.Text(store.allocations.name[1]), "cann::TransData");
  EXPECT_EQ(store.Text(store.module_memory.component[0]), "HCCL");
  EXPECT_EQ(store.module_memory.reserved_bytes[0], -1024);
}

TEST(ReadProfilerDb, CountersHaveTheSeriesAndUnitsOfTheText) {
  const TraceStore store = ReadDb(
      "CREATE TABLE STRING_IDS(id, value); INSERT INTO STRING_IDS VALUES (1,'read'),(2,'device');"
      "CREATE TABLE AICORE_FREQ(deviceId, timestampNs, freq);"
      "INSERT INTO AICORE_FREQ VALUES (0,20,1500),(0,10,1800);"
      "CREATE TABLE HBM(deviceId, timestampNs, bandwidth, hbmId, type); INSERT INTO HBM VALUES "
      "(0,10,3145728,2,1);"
      "CREATE TABLE LLC(deviceId, llcId, timestampNs, hitRate, throughput, mode); INSERT INTO LLC "
      "VALUES (0,1,10,85.9,1048576,1);"
      "CREATE TABLE NPU_MEM(type, ddr, hbm, timestampNs, deviceId); INSERT INTO NPU_MEM VALUES "
      "(2,1024,2048,10,0);"
      "CREATE TABLE ACC_PMU(accId, readBwLevel, writeBwLevel, readOstLevel, writeOstLevel, "
      "timestampNs, deviceId);"
      "INSERT INTO ACC_PMU VALUES (7,1,2,3,4,10,0)");
  const auto values = [&](std::string_view name) {
    std::vector<double> found;
    for (size_t i = 0; i < store.counters.size(); ++i) {
      const auto track = static_cast<size_t>(store.counters.track[i]);
      if (store.Text(store.tracks.name[track]) == name) found.push_back(store.counters.value[i]);
    }
    return found;
  };
  EXPECT_EQ(values("AI Core Freq"), (std::vector<double>{1800, 1500})) << "in the order of time";
  EXPECT_EQ(values("HBM 2/Read"), std::vector<double>{3});
  EXPECT_EQ(values("LLC 1 Read/Throughput"), std::vector<double>{1});
  EXPECT_DOUBLE_EQ(values("LLC 1 Read/Hit Rate").at(0), 0.859);
  EXPECT_EQ(values("Device/Memory"), std::vector<double>{3});
  EXPECT_EQ(values("write_ost"), std::vector<double>{4});
  EXPECT_EQ(store.Text(store.tracks.label[FindTrack(store, "write_ost")]), "7");
  EXPECT_EQ(store.Text(store.tracks.label[FindTrack(store, "HBM 2/Read")]), "Read(MB/s)");
}

TEST(ReadProfilerDb, MarkersGarbageCollectionsAndSystemCallsAreSlices) {
  const std::string tid = kTid;
  const TraceStore store = ReadDb(
      "CREATE TABLE STRING_IDS(id, value); INSERT INTO STRING_IDS VALUES (1,'step "
      "3'),(2,'MsTx'),(3,'read');"
      "CREATE TABLE MSTX_EVENTS(startNs, endNs, globalTid, message, connectionId);"
      "INSERT INTO MSTX_EVENTS VALUES (10,20," +
      tid +
      ",1,4000000002);"
      "CREATE TABLE OSRT_API(name, globalTid, startNs, endNs); INSERT INTO OSRT_API VALUES (3," +
      tid +
      ",1,2);"
      "CREATE TABLE GC_RECORD(startNs, endNs, globalTid); INSERT INTO GC_RECORD VALUES (5,9," +
      tid + ");" + Task("(30,40,0,4000000002,0,77,2,4294967295,2,1,4294967295)"));
  ASSERT_EQ(store.slices.size(), 4u);
  EXPECT_EQ(TrackPath(store, store.slices.track[0]), "MSTX / Thread 78");
  EXPECT_EQ(TrackPath(store, store.slices.track[1]), "OS Runtime API / Thread 78");
  EXPECT_EQ(TrackPath(store, store.slices.track[2]), "Python GC / Thread 78");
  EXPECT_EQ(SliceName(store, 3), "step 3");
  ASSERT_EQ(store.flows.size(), 1u);
  EXPECT_EQ(store.Text(store.flows.kind[0]), "MsTx");
}

TEST(ReadProfilerDb, RankAndFactsComeFromTheFile) {
  const TraceStore store = ReadDb(
      "CREATE TABLE RANK_DEVICE_MAP(rankId, deviceId); INSERT INTO RANK_DEVICE_MAP VALUES (5,1);"
      "CREATE TABLE META_DATA(name, value); INSERT INTO META_DATA VALUES "
      "('ENV_VARIABLES','{}'),('ENV_VARIABLES','{}');"
      "CREATE TABLE HOST_INFO(hostUid, hostName); INSERT INTO HOST_INFO VALUES ('12','ubuntu');"
      "CREATE TABLE SESSION_TIME_INFO(startTimeNs, endTimeNs); INSERT INTO SESSION_TIME_INFO "
      "VALUES (1736410576284680000, 2);"
      "CREATE TABLE STEP_TIME(id, startNs, endNs); INSERT INTO STEP_TIME VALUES (50,100,300)");
  EXPECT_EQ(store.info.rank, 5);
  EXPECT_EQ(store.info.device, 1);
  EXPECT_EQ(store.meta.size(), 6u) << "ENV_VARIABLES once";
  EXPECT_EQ(store.FindMeta("RANK_DEVICE_MAP.rankId"), "5");
  EXPECT_EQ(store.FindMeta("hostName"), "ubuntu");
  EXPECT_EQ(store.FindMeta("startTimeNs"), "1736410576284680000");
  ASSERT_EQ(store.steps.size(), 1u);
  EXPECT_EQ(store.steps.end_ns[0], 300);
}

TEST(ReadProfilerDb, KnownRankIsLeftAlone) {
  ScratchFolder directory;
  MakeDb(directory / "x.db",
         "CREATE TABLE META_DATA(name, value); CREATE TABLE RANK_DEVICE_MAP(rankId, deviceId);"
         "INSERT INTO RANK_DEVICE_MAP VALUES (5,1)");
  TraceStore out;
  out.info.rank = 2;
  ASSERT_TRUE(ReadProfilerDb(directory / "x.db", {}, out).ok());
  EXPECT_EQ(out.info.rank, 2);
}

TEST(ReadProfilerDb, BadRowsAreCountedAndTheRestIsUsed) {
  const TraceStore store = ReadDb(
      std::string(kStrings) +
      Task("(NULL,2,0,1,1,77,1,0,2,5,0),('abc',2,0,1,2,77,1,0,2,5,0),(-5,2,0,1,3,77,1,0,2,5,0),"
           "(100,40,0,1,4,77,1,0,2,5,0),(x'00',2,0,1,5,77,1,0,2,5,0),"
           "(9223372036854775807,9223372036854775807,0,1,6,77,1,0,2,5,0)"));
  ASSERT_EQ(store.slices.size(), 2u);
  EXPECT_EQ(store.slices.begin_ns[0], 100);
  EXPECT_EQ(store.slices.dur_ns[0], 0);
  EXPECT_EQ(CountIssues(store, IssueKind::kNegativeDuration), 1u);
  EXPECT_EQ(CountIssues(store, IssueKind::kDbRowInvalid), 6u) << "4 rows and 2 cells";
  EXPECT_EQ(
      store.issues.entry(IssueKind::kDbRowInvalid).example,
      "ascend_pytorch_profiler_0.db: table 'TASK': row 2, column 'startNs': 'abc' is not a number");
}

TEST(ReadProfilerDb, MissingColumnIsNamedAndTheOtherTablesAreUsed) {
  const TraceStore store = ReadDb(
      std::string(kStrings) + "CREATE TABLE CANN_API(startNs, endNs, type, connectionId, name);" +
      Task("(1,2,0,1,1,77,1,0,2,5,0)"));
  EXPECT_EQ(store.slices.size(), 1u);
  EXPECT_EQ(CountIssues(store, IssueKind::kDbColumnMissing), 1u);
  EXPECT_EQ(store.issues.entry(IssueKind::kDbColumnMissing).example,
            "ascend_pytorch_profiler_0.db: table 'CANN_API' has no column 'globalTid' "
            "(found: startNs, endNs, type, connectionId, name)");
}

TEST(ReadProfilerDb, KernelsAreKeptWhereTheirTypeIsMissing) {
  const TraceStore store = ReadDb(
      std::string(kStrings) +
      "CREATE TABLE COMPUTE_TASK_INFO(name, globalTaskId, taskType, mixBlockNum, inputShapes, "
      "inputDataTypes, inputFormats, outputShapes, outputDataTypes, outputFormats);" +
      "INSERT INTO COMPUTE_TASK_INFO(name, globalTaskId, taskType) VALUES(1, 1, 1);" +
      Task("(1,2,0,1,1,77,1,0,2,5,0)"));
  EXPECT_EQ(store.kernels.size(), 1u);
  EXPECT_EQ(CountIssues(store, IssueKind::kDbColumnMissing), 2u);
  EXPECT_EQ(store.issues.entry(IssueKind::kDbColumnMissing).example,
            "ascend_pytorch_profiler_0.db: table 'COMPUTE_TASK_INFO' has no column "
            "'blockNum' or 'blockDim'");
}

TEST(ReadProfilerDb, ATableThatOthersNameAndIsNotThereIsCounted) {
  const TraceStore store = ReadDb(
      std::string(kStrings) +
      "CREATE TABLE PYTORCH_API(startNs, endNs, globalTid, connectionId, name, sequenceNumber, "
      "fwdThreadId, inputDtypes, inputShapes, callchainId, type);"
      "INSERT INTO PYTORCH_API VALUES('1','2',4294967297,5,1,-1,0,NULL,NULL,NULL,50001),"
      "('1','2',4294967297,6,1,-1,0,NULL,NULL,3,50001);");
  EXPECT_EQ(store.slices.size(), 2u);
  EXPECT_EQ(CountIssues(store, IssueKind::kDbTableUnreadable), 2u);
  EXPECT_EQ(store.issues.entry(IssueKind::kDbTableUnreadable).example,
            "ascend_pytorch_profiler_0.db: table 'PYTORCH_CALLCHAINS' has no rows, and rows of "
            "PYTORCH_API name some: 1");
}

TEST(ReadProfilerDb, UnknownStringIdsAreCounted) {
  const TraceStore store =
      ReadDb("CREATE TABLE STRING_IDS(id, value);" + Task("(1,2,0,1,1,77,12345,0,2,5,0)"));
  EXPECT_EQ(SliceName(store, 0), "");
  EXPECT_EQ(CountIssues(store, IssueKind::kDbRowInvalid), 1u);
}

TEST(ReadProfilerDb, EmptyStringIsAString) {
  const TraceStore store =
      ReadDb("CREATE TABLE STRING_IDS(id, value); INSERT INTO STRING_IDS VALUES (3,'');" +
             Task("(1,2,0,1,1,77,3,0,2,5,0)"));
  EXPECT_EQ(SliceName(store, 0), "");
  EXPECT_TRUE(store.issues.empty());
}

TEST(ReadProfilerDb, RefusesADatabaseOfAnotherKind) {
  ScratchFolder directory;
  MakeDb(directory / "x.db", "CREATE TABLE notes(a)");
  TraceStore out;
  const Status status = ReadProfilerDb(directory / "x.db", {}, out);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message,
            "x.db: none of the expected tables (STRING_IDS, ...) is there; found 1 tables: notes");
}

TEST(ReadProfilerDb, SaysThatALogIsNotRead) {
  ScratchFolder directory;
  MakeDb(directory / "x.db", "CREATE TABLE META_DATA(name, value)");
  std::ofstream(directory / "x.db-wal") << "rows";
  TraceStore out;
  ASSERT_TRUE(ReadProfilerDb(directory / "x.db", {}, out).ok());
  EXPECT_EQ(CountIssues(out, IssueKind::kDbTableUnreadable), 1u);
}

TEST(ReadProfilerDb, AnyPrefixOfAFileIsReadOrRefusedWithoutACrash) {
  ScratchFolder directory;
  const std::string path = directory / "whole.db";
  MakeDb(path,
         "PRAGMA page_size=512;" + std::string(kStrings) + kPytorchApi + kComputeInfo +
             Api("'1','2'," + std::string(kTid) + ",0,268435456,5,0,268435459,268435458,3,50001") +
             Task("(1,2,0,1,1,77,1,0,2,5,0),(1,2,0,1,2,77,1,0,2,5,0)"));
  std::string bytes;
  std::ifstream whole(path, std::ios::binary);
  bytes.assign(std::istreambuf_iterator<char>(whole), {});
  for (size_t size = 0; size < bytes.size(); size += 97) {
    std::ofstream(directory / "cut.db", std::ios::binary) << bytes.substr(0, size);
    TraceStore out;
    const Status status = ReadProfilerDb(directory / "cut.db", {}, out);
    EXPECT_TRUE(!status.ok() || !out.issues.empty()) << "cut at byte " << size;
  }
}

constexpr std::string_view kAnalysisDb = R"sql(
CREATE TABLE StepTraceTime(step TEXT, computing, communication_not_overlapped, overlapped, communication,
  free, stage, bubble, communication_not_overlapped_and_exclude_receive, preparing);
INSERT INTO StepTraceTime(step, computing, free) VALUES ('50', 8903.431, 1), (NULL, 2, 3);
CREATE TABLE CommAnalyzerTime(hccl_op_name, group_name, start_timestamp, elapse_time, transit_time,
  wait_time, synchronization_time, idle_time, step, type);
INSERT INTO CommAnalyzerTime VALUES ('op', 'g', 1736408883732241.5, 79.5, 1.8, 5.6, 5.5, 72.1, 'step50', 'collective');
CREATE TABLE CommAnalyzerBandwidth(hccl_op_name, group_name, transport_type, transit_size, transit_time,
  bandwidth, large_packet_ratio, package_size, count, total_duration, step, type);
INSERT INTO CommAnalyzerBandwidth VALUES
  ('op', 'g', 'HCCS', 28.6, 1.8, 15.7, 0, 2.0, 12, 1.5, 'step50', 'collective'),
  ('op', 'g', 'HCCS', 28.6, 1.8, 15.7, 0, 1.9, 2, 0.2, 'step50', 'collective'),
  ('op', 'g', 'SDMA', 28.6, 1.8, 15.7, 0, 0, 0, 0, 'step50', 'collective');
CREATE TABLE CommAnalyzerMatrix(hccl_op_name, group_name, src_rank TEXT, dst_rank TEXT, transport_type,
  transit_size, transit_time, bandwidth, step, type, op_name);
INSERT INTO CommAnalyzerMatrix VALUES ('allreduce-top1', 'g', '0', '7', 'HCCS', 1, 1, 1, 'step50', 'collective', 'op');
)sql";

// `change` is done to a sound analysis.db.
TraceStore ReadChangedAnalysis(const std::string& change, const std::string& name = "analysis.db") {
  ScratchFolder directory;
  MakeDb(directory / name, std::string(kAnalysisDb) + change);
  TraceStore out;
  const Status status = ReadAnalysisDb(directory / name, {}, out);
  EXPECT_TRUE(status.ok()) << status.error().message;
  return out;
}

TEST(ReadAnalysisDb, BandwidthRowsOfOneTransportShareARowAndListTheirPackets) {
  const TraceStore out = ReadChangedAnalysis("");
  ASSERT_EQ(out.comm_bandwidths.size(), 2u);
  EXPECT_DOUBLE_EQ(out.comm_bandwidths.transit_size_mb[1], 28.6);
  ASSERT_EQ(out.comm_packets.size(), 2u);
  EXPECT_EQ(out.comm_packets.bandwidth_row[1], 0u);
  EXPECT_DOUBLE_EQ(out.comm_packets.package_size_mb[1], 1.9);
  EXPECT_EQ(out.comm_links.dst_rank[0], 7);
  EXPECT_EQ(out.step_traces.step[0], 50);
  EXPECT_EQ(out.step_traces.step[1], kNone);
  EXPECT_DOUBLE_EQ(out.step_traces.computing_us[0], 8903.431);
  EXPECT_TRUE(std::isnan(out.step_traces.preparing_us[0]));
  EXPECT_TRUE(out.issues.empty());
}

TEST(ReadAnalysisDb, EveryColumnIsMissed) {
  const std::map<std::string, std::vector<std::string>> tables = {
      {"StepTraceTime",
       {"step", "computing", "communication_not_overlapped", "overlapped", "communication", "free",
        "stage", "bubble", "communication_not_overlapped_and_exclude_receive"}},
      {"CommAnalyzerTime",
       {"hccl_op_name", "group_name", "start_timestamp", "elapse_time", "transit_time", "wait_time",
        "synchronization_time", "idle_time", "step", "type"}},
      {"CommAnalyzerBandwidth",
       {"hccl_op_name", "group_name", "transport_type", "transit_size", "transit_time", "bandwidth",
        "large_packet_ratio", "package_size", "count", "total_duration", "step", "type"}},
      {"CommAnalyzerMatrix",
       {"hccl_op_name", "group_name", "src_rank", "dst_rank", "transport_type", "transit_size",
        "transit_time", "bandwidth", "step", "type", "op_name"}}};
  for (const auto& [table, columns] : tables) {
    for (const std::string& column : columns) {
      const TraceStore out = ReadChangedAnalysis("ALTER TABLE " + table + " DROP COLUMN " + column);
      EXPECT_EQ(CountIssues(out, IssueKind::kDbColumnMissing), 1u) << table << '.' << column;
    }
  }
}

TEST(ReadAnalysisDb, EveryTableIsMissed) {
  for (const std::string table :
       {"StepTraceTime", "CommAnalyzerTime", "CommAnalyzerBandwidth", "CommAnalyzerMatrix"}) {
    const TraceStore out = ReadChangedAnalysis("DROP TABLE " + table);
    const auto& entry = out.issues.entry(IssueKind::kDbTableUnreadable);
    EXPECT_EQ(entry.count, 1u) << table;
    EXPECT_TRUE(entry.example.starts_with("analysis.db: table '" + table + "'")) << entry.example;
  }
}

TEST(ReadAnalysisDb, FilesWithoutStepsAreThoseOfTheExporter) {
  const std::string change =
      "DROP TABLE StepTraceTime; ALTER TABLE CommAnalyzerTime DROP COLUMN step;"
      "ALTER TABLE CommAnalyzerMatrix DROP COLUMN op_name";
  EXPECT_TRUE(ReadChangedAnalysis(change, "communication_analyzer.db").issues.empty());
}

TEST(ReadAnalysisDb, ValuesOfAWrongTypeAreCounted) {
  const std::pair<std::string, std::string> cells[] = {
      {"StepTraceTime", "step"},           {"StepTraceTime", "computing"},
      {"CommAnalyzerTime", "elapse_time"}, {"CommAnalyzerBandwidth", "transit_size"},
      {"CommAnalyzerMatrix", "src_rank"},  {"CommAnalyzerMatrix", "bandwidth"}};
  for (const auto& [table, column] : cells) {
    for (const std::string value : {"'abc'", "x'00ff'"}) {
      const TraceStore out =
          ReadChangedAnalysis("UPDATE " + table + " SET " + column + " = " + value);
      EXPECT_GT(CountIssues(out, IssueKind::kDbRowInvalid), 0u) << table << '.' << column << value;
    }
  }
  const TraceStore names = ReadChangedAnalysis("UPDATE CommAnalyzerTime SET group_name = x'00ff'");
  EXPECT_EQ(CountIssues(names, IssueKind::kDbRowInvalid), 1u);
}

TEST(ClassifyDb, GoesByTheTables) {
  ScratchFolder directory;
  const auto classify = [&](const std::string& table) {
    const std::string path = directory / (table + ".db");
    MakeDb(path, "CREATE TABLE " + table + "(a)");
    EXPECT_TRUE(LooksLikeSqlite(path));
    return *ClassifyDb(path);
  };
  EXPECT_EQ(classify("TASK"), DbKind::kProfiler);
  EXPECT_EQ(classify("CommAnalyzerTime"), DbKind::kAnalysis);
  EXPECT_EQ(classify("ClusterStepTraceTime"), DbKind::kCluster);
  EXPECT_EQ(classify("notes"), DbKind::kOther);
  std::ofstream(directory / "text.db") << "SQLite format 2";
  EXPECT_FALSE(LooksLikeSqlite(directory / "text.db"));
  EXPECT_FALSE(LooksLikeSqlite(directory / "absent.db"));
}

}  // namespace
}  // namespace steplens::readers
