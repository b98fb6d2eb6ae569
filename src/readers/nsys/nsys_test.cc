#include "readers/nsys/nsys.h"

#include <gtest/gtest.h>

#include "base/testing/scratch_folder.h"
#include "readers/ascend_db/test_db.h"
#include "readers/detect.h"

namespace steplens::readers {
namespace {

using ascend_db_test::CountIssues;
using ascend_db_test::FindTrack;
using ascend_db_test::MakeDb;

constexpr char kSchema[] = R"(
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER, globalTid INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER);
INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'Attention'), (3, 'cudaLaunchKernel'), (4, 'cuLaunchKernel');
)";

store::TraceStore Read(const std::string& rows) {
  ScratchFolder directory;
  const std::string path = directory / "gpu.sqlite";
  MakeDb(path, kSchema + rows);
  ThreadPool pool(1);
  ReadOptions options;
  options.pool = &pool;
  store::TraceStore out;
  const Status status = ReadNsysDb(path, options, out);
  EXPECT_TRUE(status.ok()) << status.error().message;
  return out;
}

// Threads 7 and 8 of process 5 and thread 7 of process 6.
constexpr int64_t kTid = (5LL << 24) | 7;
constexpr int64_t kOtherTid = (6LL << 24) | 7;

TEST(NsysReader, RangesAndCallsAreSlicesOfTheirThread) {
  const store::TraceStore store =
      Read("INSERT INTO NVTX_EVENTS VALUES (100, 900, 59, NULL, 2, " + std::to_string(kTid) +
           "), (150, 200, 59, 'aten::mm', NULL, " + std::to_string(kTid) + ");" +
           "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (160, 170, " + std::to_string(kTid) +
           ", 42, 3), (180, 190, " + std::to_string(kTid) + ", 43, 4);");
  ASSERT_EQ(store.slices.size(), 4u);
  EXPECT_EQ(store.Text(store.slices.name[0]), "Attention");
  EXPECT_EQ(store.slices.dur_ns[0], 800);
  EXPECT_EQ(store.Text(store.slices.name[1]), "aten::mm");
  EXPECT_EQ(store.Text(store.slices.category[2]), "cuda_runtime");
  EXPECT_EQ(store.slices.correlation[2], 42);
  EXPECT_EQ(store.Text(store.slices.category[3]), "cuda_driver");
  EXPECT_EQ(store.slices.track[0], store.slices.track[3]);
}

TEST(NsysReader, KernelsAreOnTheStreamsOfTheirDevice) {
  const store::TraceStore store =
      Read("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (500, 700, 1, 13, 42, NULL, 1);");
  ASSERT_EQ(store.kernels.size(), 1u);
  EXPECT_EQ(store.kernels.device[0], 1);
  EXPECT_EQ(store.kernels.stream[0], 13);
  EXPECT_EQ(store.Text(store.kernels.name[0]), "gemm");
  EXPECT_EQ(store.kernels.correlation[0], 42);
  EXPECT_LT(FindTrack(store, "GPU 1"), store.tracks.size());
  EXPECT_LT(FindTrack(store, "stream 13"), store.tracks.size());
}

TEST(NsysReader, CorrelationsOfTwoProcessesStayApart) {
  const std::string call = "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, ";
  const std::string kernel = "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5, 6, 0, 7, 42, ";
  const store::TraceStore store =
      Read(call + std::to_string(kTid) + ", 42, 3);" + call + std::to_string(kOtherTid) +
           ", 42, 3);" + kernel + std::to_string(kOtherTid & ~0xFFFFFFLL) + ", 1);");
  ASSERT_EQ(store.slices.size(), 3u);
  EXPECT_NE(store.slices.correlation[0], store.slices.correlation[1]);
  EXPECT_EQ(store.slices.correlation[1], store.slices.correlation[2]);
}

TEST(NsysReader, CountsRangesWithoutEndAndBadRows) {
  const store::TraceStore store = Read(
      "INSERT INTO NVTX_EVENTS VALUES (100, NULL, 59, 'open', NULL, 7);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (NULL, 700, 1, 13, 42, NULL, 1);");
  EXPECT_EQ(store.slices.size(), 0u);
  EXPECT_EQ(CountIssues(store, store::IssueKind::kBeginWithoutEnd), 1u);
  EXPECT_EQ(CountIssues(store, store::IssueKind::kDbRowInvalid), 1u);
}

TEST(NsysReader, AnotherDatabaseIsAnError) {
  ScratchFolder directory;
  const std::string path = directory / "other.sqlite";
  MakeDb(path, "CREATE TABLE t (x INTEGER);");
  ThreadPool pool(1);
  ReadOptions options;
  options.pool = &pool;
  store::TraceStore out;
  const Status status = ReadNsysDb(path, options, out);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kUnsupported);
}

TEST(DetectRanks, FindsAnNsysExport) {
  ScratchFolder directory;
  const std::string path = directory / "gpu.sqlite";
  MakeDb(path, kSchema);
  const Result<Detected> detected = DetectRanks({path});
  ASSERT_TRUE(detected.ok()) << detected.error().message;
  ASSERT_EQ(detected->ranks.size(), 1u);
  EXPECT_EQ(detected->ranks[0].source, store::Source::kNsys);
}

}  // namespace
}  // namespace steplens::readers
