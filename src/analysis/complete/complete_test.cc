#include "analysis/complete/complete.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/testing/store_builder.h"

namespace steplens::analysis {
namespace {

using store::TrackId;

// Appends an operation of 2 ms transit and 6 ms waiting over HCCS.
void AddOperation(store::TraceStore& store, std::string_view name, std::string_view kind) {
  const auto text = [&](std::string_view t) { return store.strings.Intern(t); };
  store::CommTimeTable::Row time;
  time.step = text("step5");
  time.kind = text(kind);
  time.op_name = text(name);
  time.group_name = text("17522688603477080586");
  time.elapse_ms = 10;
  time.transit_ms = 2;
  time.wait_ms = 6;
  time.synchronization_ms = 4;
  time.idle_ms = 2;
  store.comm_times.Append(time);
  store::CommBandwidthTable::Row link;
  link.step = time.step;
  link.kind = time.kind;
  link.op_name = time.op_name;
  link.group_name = time.group_name;
  link.transport = text("HCCS");
  link.transit_size_mb = 30;
  link.transit_ms = 2;
  link.bandwidth_gbps = 15;
  link.large_packet_ratio = 0;
  store.comm_packets.Append({static_cast<uint32_t>(store.comm_bandwidths.size()), 10, 3, 2});
  store.comm_bandwidths.Append(link);
}

TEST(CompleteCapture, DbGetsRatiosAndTotals) {
  StoreBuilder b;
  b.store.info.format = store::Format::kDb;
  AddOperation(b.store, "a", "collective");
  AddOperation(b.store, "b", "collective");
  AddOperation(b.store, "c", "p2p");
  CompleteCapture(b.store);
  const store::CommTimeTable& times = b.store.comm_times;
  ASSERT_EQ(times.size(), 5u);
  EXPECT_EQ(times.wait_ratio[0], 0.75);
  EXPECT_EQ(times.synchronization_ratio[0], 0.6667);
  EXPECT_EQ(b.store.Text(times.op_name[3]), "Total Op Info");
  EXPECT_EQ(b.store.Text(times.kind[3]), "collective");
  EXPECT_EQ(times.elapse_ms[3], 20);
  EXPECT_EQ(times.wait_ms[3], 12);
  EXPECT_EQ(times.wait_ratio[3], 0.75);
  EXPECT_EQ(b.store.Text(times.kind[4]), "p2p");
  const store::CommBandwidthTable& links = b.store.comm_bandwidths;
  ASSERT_EQ(links.size(), 5u);
  EXPECT_EQ(links.transit_size_mb[3], 60);
  EXPECT_TRUE(std::isnan(links.bandwidth_gbps[3]));
  const store::CommPacketTable& packets = b.store.comm_packets;
  ASSERT_EQ(packets.size(), 5u);
  EXPECT_EQ(packets.bandwidth_row[3], 3u);
  EXPECT_EQ(packets.count[3], 6);
}

TEST(CompleteCapture, TotalsThatAreThereStay) {
  StoreBuilder b;
  b.store.info.format = store::Format::kDb;
  AddOperation(b.store, "a", "collective");
  AddOperation(b.store, "Total Op Info", "collective");
  CompleteCapture(b.store);
  EXPECT_EQ(b.store.comm_times.size(), 2u);
}

TEST(CompleteCapture, DbKernelsGetTheirStep) {
  StoreBuilder b;
  b.store.info.format = store::Format::kDb;
  const TrackId cann = b.ThreadOf("CANN", "Thread 2");
  const TrackId stream = b.ThreadOf("Ascend Hardware", "Stream 2");
  b.Step(7, 0, 1000);
  b.Slice(cann, 10, 20, "Node@launch", "", 1);
  b.Slice(stream, 100, 500, "Add", "", 1);
  b.Kernel("Add", "Add", "AI_CORE", 100, 500);
  b.Kernel("Add", "Add", "AI_CORE", 1000, 1100);  // at the very end of the step
  b.Kernel("Add", "Add", "AI_CORE", 5000, 5100);
  CompleteCapture(b.store);
  EXPECT_EQ(b.store.kernels.step[0], 7);
  EXPECT_EQ(b.store.kernels.step[1], 7);
  EXPECT_EQ(b.store.kernels.step[2], store::kNone);
}

TEST(CompleteCapture, IterationsOfTheModelThatRunsMostAreSteps) {
  StoreBuilder b;
  b.store.info.format = store::Format::kText;
  const TrackId first = b.ThreadOf("Ascend Hardware", "Step Trace(Model ID:1)");
  const TrackId training = b.ThreadOf("Ascend Hardware", "Step Trace(Model ID:2)");
  b.Slice(first, 0, 10, "Iteration 1", "Iteration Time");
  b.Slice(training, 200, 300, "Iteration 10", "Iteration Time");
  b.Slice(training, 100, 190, "Iteration 9", "Iteration Time");
  b.Slice(training, 110, 190, "Iteration Refresh 9", "Iteration Refresh");
  b.Slice(training, 100, 190, "Iteration x", "Iteration Time");
  CompleteCapture(b.store);
  EXPECT_THAT(b.store.steps.step.span(), testing::ElementsAre(9, 10));
  EXPECT_THAT(b.store.steps.begin_ns.span(), testing::ElementsAre(100, 200));
  EXPECT_THAT(b.store.steps.end_ns.span(), testing::ElementsAre(190, 300));
  CompleteCapture(b.store);  // what is there stays
  EXPECT_EQ(b.store.steps.size(), 2u);
}

TEST(CompleteCapture, CollectivesGetTheSizeOfTheirData) {
  for (const store::Format format :
       {store::Format::kText, store::Format::kDb, store::Format::kJson}) {
    StoreBuilder b;
    b.store.info.format = format;
    const auto add = [&](std::string_view type, int64_t count, int64_t size_bytes) {
      b.store.comm_ops.Append(
          {.data_type = b.Text(type), .count = count, .size_bytes = size_bytes});
    };
    add("FP32", 4097000, store::kNone);
    add("BFloat16", 3, store::kNone);
    add("FP32", 10, 7);  // the input's own word counts
    add("", 10, store::kNone);
    add("FP32", store::kNone, store::kNone);
    add("INT64", int64_t{1} << 62, store::kNone);
    CompleteCapture(b.store);
    EXPECT_THAT(b.store.comm_ops.size_bytes.span(),
                testing::ElementsAre(16388000, 6, 7, store::kNone, store::kNone, store::kNone));
  }
}

TEST(CompleteCapture, NumbersOfGroupsBecomeNamesInText) {
  StoreBuilder b;
  b.store.info.format = store::Format::kText;
  AddOperation(b.store, "hcom_allReduce__586_0_1", "collective");
  b.CommOp("hcom_allReduce__586_0_1", 0, 10);
  b.CommOp("hcom_allReduce__586_1_1", 20, 30);  // of the same group, not in the file
  b.CommOp("hcom_send__123_0_1", 20, 30);
  const auto text = [&](std::string_view t) { return b.store.strings.Intern(t); };
  b.store.comm_ops.group_name.Set(0, text("0"));
  b.store.comm_ops.group_name.Set(1, text("0"));
  b.store.comm_ops.group_name.Set(2, text("1"));
  CompleteCapture(b.store);
  EXPECT_EQ(b.store.Text(b.store.comm_ops.group_name[0]), "17522688603477080586");
  EXPECT_EQ(b.store.Text(b.store.comm_ops.group_name[1]), "17522688603477080586");
  EXPECT_EQ(b.store.Text(b.store.comm_ops.group_name[2]), "1");
  EXPECT_EQ(b.store.comm_times.size(), 1u);
}

TEST(CompleteCapture, ReportsADeviceThatNobodyKnows) {
  StoreBuilder b;
  b.store.info.format = store::Format::kJson;
  b.Slice(b.ThreadOf("python", "thread 1"), 0, 100, "aten::add", "cpu_op");
  const auto stream = b.Thread(b.Process("python", "GPU 0"), "stream 7 ");
  b.Slice(stream, 0, 10, "gemm", "cuda_profiler_range");
  b.Slice(stream, 10, 20, "relu", "cuda_profiler_range");
  CompleteCapture(b.store);
  const auto& entry = b.store.issues.entry(store::IssueKind::kDeviceUnknown);
  EXPECT_EQ(entry.count, 2u);
  EXPECT_EQ(entry.example, "GPU 0, stream 7: event 'gemm' has the category 'cuda_profiler_range'");
}

TEST(CompleteCapture, RunWithoutADeviceIsNoProblem) {
  StoreBuilder b;
  b.store.info.format = store::Format::kJson;
  b.Process("python", "GPU 0");  // a machine with a GPU that did nothing
  b.Slice(b.ThreadOf("python", "thread 1"), 0, 100, "aten::add", "cpu_op");
  CompleteCapture(b.store);
  EXPECT_TRUE(b.store.issues.empty());
}

}  // namespace
}  // namespace steplens::analysis
