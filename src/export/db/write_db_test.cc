#include <gtest/gtest.h>
#include <sqlite3.h>

#include <tuple>

#include "analysis/testing/store_builder.h"
#include "base/testing/scratch_folder.h"
#include "export/export.h"

namespace steplens::exporting {
namespace {

using analysis::StoreBuilder;

// Rows of a query, cells joined by '|', rows by ' '; NULL is "-".
std::string Query(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  EXPECT_EQ(sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
  std::string rows;
  const auto add = [](void* to, int count, char** cells, char**) {
    auto& out = *static_cast<std::string*>(to);
    if (!out.empty()) out += ' ';
    for (int i = 0; i < count; ++i) {
      if (i > 0) out += '|';
      out += cells[i] ? cells[i] : "-";
    }
    return 0;
  };
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), add, &rows, &message), SQLITE_OK) << message;
  sqlite3_free(message);
  sqlite3_close(db);
  return rows;
}

// An operator that puts a kernel into the queue, which CANN launches; and a copy it launches too.
class QueueStore : public StoreBuilder {
 public:
  QueueStore() {
    store.info.source = store::Source::kAscendPt;
    store.info.format = store::Format::kText;
    store.info.rank = 3;
    const store::TrackId thread = Thread(Process("Python", "CPU", "77"), "Thread 77");
    const store::TrackId cann = ThreadOf("CANN", "Thread 78");
    const store::TrackId stream = Thread(Process("Ascend Hardware", "NPU 1"), "Stream 2");
    const store::SliceId op = Slice(thread, 2000, 5000, "aten::mul", "cpu_op");
    store.host_ops.Append({.slice = op,
                           .sequence_number = -1,
                           .fwd_thread = 0,
                           .input_shapes = Text("2,3;4"),
                           .call_stack = Text("f.py(1): f;main.py(2): main")});
    Slice(thread, 2100, 2200, "Enqueue", "enqueue", 9);
    Slice(thread, 2300, 2400, "Dequeue@mul", "dequeue", 9);
    Slice(cann, 2310, 2390, "Node@launch", "", 40);
    Slice(cann, 2391, 2395, "AscendCL@aclrtMemcpyAsync", "", 41);
    Slice(stream, 10000, 12500, "Mul_1", "AI_CORE", 40);
    Slice(stream, 13000, 13500, "MEMCPY_ASYNC", "SDMA_SQE", 41);
    Flow("async_npu", thread, 2000, stream, 10000);
    Flow("async_npu", thread, 2000, stream, 13000);
    Kernel("Mul_1", "Mul", "AI_CORE", 10000, 12500);
    store.kernel_metrics.emplace_back().name = "aicore_time(us)";
    store.kernel_metrics.back().numbers.Append(2.25);
  }
  std::string Write(const ScratchFolder& folder) {
    ThreadPool pool(2);
    const Status status = WriteDb(store, {}, folder.path(), pool);
    EXPECT_TRUE(status.ok()) << status.error().message;
    return folder.path() + "/ascend_pytorch_profiler_3.db";
  }
};

TEST(WriteDb, OperatorsHaveTextTimesAndFrameworkStrings) {
  QueueStore b;
  ScratchFolder folder;
  const std::string path = b.Write(folder);
  EXPECT_EQ(Query(path,
                  "SELECT typeof(startNs), startNs, endNs, globalTid >> 32, name >= 1 << 28, "
                  "(SELECT value FROM STRING_IDS WHERE id = name), inputDtypes, type "
                  "FROM PYTORCH_API WHERE type = 50001"),
            "text|2000|5000|77|1|aten::mul|-|50001");
  EXPECT_EQ(
      Query(path, "SELECT value FROM STRING_IDS JOIN PYTORCH_API ON inputShapes = STRING_IDS.id"),
      "2,3;\r\n4");
  EXPECT_EQ(Query(path,
                  "SELECT replace(value, ' ', ''), stackDepth FROM PYTORCH_CALLCHAINS c "
                  "JOIN STRING_IDS s ON s.id = c.stack ORDER BY stackDepth"),
            "f.py(1):f|0 main.py(2):main|1");
}

TEST(WriteDb, LinksQueueItemsAndNodeLaunchesOnly) {
  QueueStore b;
  ScratchFolder folder;
  const std::string path = b.Write(folder);
  EXPECT_EQ(Query(path,
                  "SELECT a.type, c.connectionId FROM PYTORCH_API a "
                  "JOIN CONNECTION_IDS c ON c.id = a.connectionId ORDER BY a.startNs + 0"),
            "50001|40 50002|1342177289 50002|1342177289");
}

TEST(WriteDb, TasksJoinTheirKernels) {
  QueueStore b;
  ScratchFolder folder;
  const std::string path = b.Write(folder);
  EXPECT_EQ(Query(path,
                  "SELECT t.startNs, t.endNs, t.deviceId, t.connectionId, s.value, n.value "
                  "FROM TASK t JOIN STRING_IDS s ON s.id = t.taskType "
                  "LEFT JOIN COMPUTE_TASK_INFO k USING (globalTaskId) "
                  "LEFT JOIN STRING_IDS n ON n.id = k.name ORDER BY t.startNs"),
            "10000|12500|1|40|KERNEL_AICORE|Mul_1 13000|13500|1|41|MEMCPY_ASYNC|-");
  EXPECT_EQ(Query(path, "SELECT value FROM TASK_PMU_INFO"), "2250");
  EXPECT_EQ(Query(path,
                  "SELECT c.type, c.connectionId, s.value FROM CANN_API c "
                  "JOIN STRING_IDS s ON s.id = c.name ORDER BY 2"),
            "10000|40|launch 20000|41|aclrtMemcpyAsync");
}

TEST(WriteDb, TablesWithoutRowsDoNotExist) {
  QueueStore b;
  ScratchFolder folder;
  EXPECT_EQ(Query(b.Write(folder),
                  "SELECT count(*) FROM sqlite_master WHERE name IN "
                  "('MEMORY_RECORD', 'COMMUNICATION_OP', 'HBM', 'GC_RECORD')"),
            "0");
}

TEST(WriteDb, AllocatorNamesOfCannAreTheExporters) {
  QueueStore b;
  b.store.allocations.Append(
      {.name = b.Text("cann::Add_1"), .size_bytes = 512, .alloc_ns = 5, .device = b.Text("NPU:1")});
  b.store.allocations.Append(
      {.name = b.Text("aten::mul"), .size_bytes = 1024, .alloc_ns = 6, .device = b.Text("NPU:1")});
  ScratchFolder folder;
  EXPECT_EQ(Query(b.Write(folder),
                  "SELECT s.value, m.name >> 28, m.size, m.releaseTime, m.deviceId "
                  "FROM OP_MEMORY m JOIN STRING_IDS s ON s.id = m.name"),
            "Add_1|0|512|-|1 aten::mul|2|1024|-|1");
}

TEST(WriteDb, CountersGoToTheirTables) {
  QueueStore b;
  const store::TrackId llc = b.Process("LLC", "NPU 1");
  const auto series = [&](std::string_view name, std::string_view label, double value) {
    b.store.tracks.Append(
        {.parent = llc, .kind = b.Text("counter"), .name = b.Text(name), .label = b.Text(label)});
    b.store.counters.Append(
        {store::TrackId{static_cast<uint32_t>(b.store.tracks.size() - 1)}, 500, value});
  };
  series("LLC 4 Read/Hit Rate", "Hit Rate(%)", 0.875);
  series("LLC 4 Read/Throughput", "Throughput(MB/s)", 2);
  ScratchFolder folder;
  EXPECT_EQ(Query(b.Write(folder),
                  "SELECT deviceId, llcId, timestampNs, hitRate, throughput, "
                  "s.value FROM LLC JOIN STRING_IDS s ON s.id = mode"),
            "1|4|500|87.5|2097152|read");
}

TEST(WriteDb, WritesTheSameBytesAgain) {
  QueueStore b;
  ScratchFolder first;
  ScratchFolder second;
  b.Write(first);
  b.Write(second);
  for (const char* name : {"ascend_pytorch_profiler_3.db", "analysis.db"}) {
    EXPECT_FALSE(first.Read(name).empty()) << name;
    EXPECT_EQ(first.Read(name), second.Read(name)) << name;
  }
  EXPECT_EQ(first.FileCount(), 2u);  // nothing temporary stays
}

TEST(WriteDb, MindSporeHasItsOwnNames) {
  QueueStore b;
  b.store.info.source = store::Source::kAscendMs;
  ScratchFolder folder;
  b.Write(folder);
  EXPECT_TRUE(folder.Has("ascend_mindspore_profiler_3.db"));
  EXPECT_TRUE(folder.Has("communication_analyzer.db"));
}

// Two forward operators of one sequence number and their backward one, on one thread.
TEST(WriteDb, ForwardAndBackwardOfARawCaptureAreLinkedWithinAThread) {
  StoreBuilder b;
  b.store.info.rank = 3;
  const store::TrackId thread = b.Thread(b.Process("Python", "CPU", "77"), "Thread 77");
  for (const auto& [begin_ns, sequence, fwd_thread] :
       {std::tuple(10, 4, 0), std::tuple(20, 4, 0), std::tuple(30, 4, 1), std::tuple(40, 5, 1),
        std::tuple(50, -1, 0)}) {
    const store::SliceId slice = b.Slice(thread, begin_ns, begin_ns + 5, "op", "cpu_op");
    b.store.host_ops.Append(
        {.slice = slice, .sequence_number = sequence, .fwd_thread = fwd_thread});
  }
  ScratchFolder folder;
  ThreadPool pool(1);
  ExportOptions options;
  options.is_raw = true;
  ASSERT_TRUE(WriteDb(b.store, options, folder.path(), pool).ok());
  EXPECT_EQ(Query(folder.path() + "/ascend_pytorch_profiler_3.db",
                  "SELECT startNs, c.connectionId FROM PYTORCH_API a JOIN CONNECTION_IDS c "
                  "ON a.connectionId = c.id ORDER BY startNs"),
            "20|1342177281 30|1342177281");
}

}  // namespace
}  // namespace steplens::exporting
