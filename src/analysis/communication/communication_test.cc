#include "analysis/communication/communication.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analysis/communication/matrix.h"
#include "analysis/testing/store_builder.h"

namespace steplens::analysis {
namespace {

// An all-reduce of 100 us on two planes: a wait, a transfer of 2 MB over HCCS, one on the chip.
class Collective : public StoreBuilder {
 public:
  Collective() {
    const store::TrackId group = ThreadOf("Communication", "Group g Communication");
    store.comm_ops.Append({.track = group,
                           .name = Text("hcom_allReduce__1_0_1"),
                           .group_name = Text("g"),
                           .begin_ns = 1000000,
                           .dur_ns = 100000,
                           .size_bytes = 4000000});
  }
  void Task(std::string_view name, int64_t plane, int64_t begin_ns, int64_t dur_ns,
            int64_t size_bytes = 0, std::string_view link = "HCCS",
            std::string_view transport = "SDMA", std::string_view rdma_type = "") {
    store.comm_tasks.Append({.name = Text(name),
                             .group_name = Text("g"),
                             .plane = plane,
                             .begin_ns = begin_ns,
                             .dur_ns = dur_ns,
                             .src_rank = 0,
                             .dst_rank = 1,
                             .transport = Text(transport),
                             .link = Text(link),
                             .rdma_type = Text(rdma_type),
                             .size_bytes = size_bytes});
  }
  CommunicationClass Derive() {
    const auto steps = DeriveCommunication(store);
    EXPECT_EQ(steps.size(), 1u);
    EXPECT_EQ(steps[0].step, "step");
    return steps[0].collective;
  }
};

const TransportFacts& Transport(const OperationFacts& operation, std::string_view name) {
  for (const TransportFacts& transport : operation.transports) {
    if (transport.transport == name) return transport;
  }
  ADD_FAILURE() << "no " << name;
  return operation.transports.front();
}

TEST(DeriveCommunication, TimesAreThoseOfTheMasterPlane) {
  Collective c;
  c.Task("Notify_Wait", 1, 1000000, 30000, 0, "", "LOCAL");
  c.Task("Memcpy", 1, 1040000, 20000, 2000000);
  c.Task("Notify_Wait", 1, 1060000, 5000, 0, "", "LOCAL");
  c.Task("Memcpy", 2, 1040000, 10000, 1000000);
  const CommunicationClass of = c.Derive();
  ASSERT_EQ(of.operations.size(), 1u);
  const OperationFacts& op = of.operations[0];
  EXPECT_DOUBLE_EQ(op.start_us, 1000);
  EXPECT_DOUBLE_EQ(op.elapse_ms, 0.1);
  EXPECT_DOUBLE_EQ(op.transit_ms, 0.02);
  EXPECT_DOUBLE_EQ(op.wait_ms, 0.035);
  EXPECT_DOUBLE_EQ(op.synchronization_ms, 0.03);
  EXPECT_NEAR(op.idle_ms, 0.045, 1e-12);
  EXPECT_DOUBLE_EQ(op.wait_ratio, 0.6364);
  EXPECT_DOUBLE_EQ(op.synchronization_ratio, 0.6);
  EXPECT_NEAR(op.elapse_ms, op.transit_ms + op.wait_ms + op.idle_ms, 1e-12);
}

TEST(DeriveCommunication, TrafficIsThatOfAllPlanesAndOfOtherChips) {
  Collective c;
  c.Task("Memcpy", 1, 1040000, 20000, 2000000);
  c.Task("Reduce_Inline", 2, 1040000, 10000, 40000000);
  c.Task("Memcpy", 2, 1050000, 10000, 7000000, "ON_CHIP");
  const CommunicationClass of = c.Derive();
  const TransportFacts& hccs = Transport(of.operations[0], "HCCS");
  EXPECT_DOUBLE_EQ(hccs.transit_size_mb, 42);
  EXPECT_DOUBLE_EQ(hccs.transit_ms, 0.03);
  EXPECT_DOUBLE_EQ(hccs.bandwidth_gbps, 1400);
  EXPECT_DOUBLE_EQ(hccs.large_packet_ratio, 0.5);
  ASSERT_EQ(hccs.packets.size(), 2u);
  EXPECT_DOUBLE_EQ(hccs.packets[0].size_mb, 2);
  EXPECT_DOUBLE_EQ(hccs.packets[0].count, 1);
  EXPECT_DOUBLE_EQ(Transport(of.operations[0], "SDMA").transit_size_mb, 42);
  EXPECT_TRUE(Transport(of.operations[0], "SDMA").packets.empty());
  EXPECT_DOUBLE_EQ(of.total.elapse_ms, 0.1);
  EXPECT_TRUE(std::isnan(of.total.transports[0].bandwidth_gbps));
}

TEST(DeriveCommunication, RdmaRunEndsFourTasksAfterItsLastPayload) {
  Collective c;
  c.Task("RDMASend", 1, 1000000, 1000, 300000, "ROCE", "RDMA", "RDMA_SEND_PAYLOAD");
  c.Task("RDMASend", 1, 1002000, 1000, 300000, "ROCE", "RDMA", "RDMA_SEND_PAYLOAD");
  for (int64_t i = 0; i < 4; ++i)
    c.Task("Notify_Wait", 1, 1004000 + 2000 * i, 1000, 0, "", "LOCAL");
  c.Task("RDMASend", 1, 1050000, 1000, 300000, "ROCE", "RDMA", "RDMA_SEND_PAYLOAD");
  const CommunicationClass of = c.Derive();
  const TransportFacts& rdma = Transport(of.operations[0], "RDMA");
  EXPECT_DOUBLE_EQ(rdma.transit_size_mb, 0.6);  // the second run is never closed
  EXPECT_DOUBLE_EQ(rdma.transit_ms, 0.011);
  EXPECT_DOUBLE_EQ(rdma.large_packet_ratio, 1);
}

TEST(DeriveCommunication, OperationWithoutTasksIsAllTransit) {
  Collective c;
  c.store.info.format = store::Format::kRaw;
  const CommunicationClass of = c.Derive();
  EXPECT_DOUBLE_EQ(of.operations[0].transit_ms, 0.1);
  EXPECT_DOUBLE_EQ(of.operations[0].idle_ms, 0);
  EXPECT_DOUBLE_EQ(Transport(of.operations[0], "SDMA").transit_size_mb, 4);
  EXPECT_DOUBLE_EQ(Transport(of.operations[0], "SDMA").bandwidth_gbps, 40);
  EXPECT_TRUE(Transport(of.operations[0], "SDMA").packets.empty());
  EXPECT_TRUE(of.matrix.empty());
}

TEST(DeriveCommunication, DataOfAnOperationIsNotWhatLinksCarried) {
  Collective c;
  c.store.info.format = store::Format::kText;
  const CommunicationClass of = c.Derive();
  EXPECT_DOUBLE_EQ(of.operations[0].transit_ms, 0.1);
  EXPECT_DOUBLE_EQ(Transport(of.operations[0], "SDMA").transit_size_mb, 0);
}

TEST(DeriveCommunication, OnlyStepTakesAllOperations) {
  Collective c;
  c.Step(50, 5000000, 6000000);
  const auto steps = DeriveCommunication(c.store);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].step, "step50");
  EXPECT_EQ(steps[0].collective.operations.size(), 1u);
}

TEST(MatrixType, TriesTheWordsInTheOrderOfTheReference) {
  EXPECT_EQ(MatrixType("hcom_allReduce__1", false, false), "allreduce");
  EXPECT_EQ(MatrixType("hcom_reduceScatter__1", false, false), "reduce");
  EXPECT_EQ(MatrixType("hcom_alltoallvc__1", false, false), "alltoall");
  EXPECT_EQ(MatrixType("hcom_new__1", false, false), "hcom_new");
}

TEST(MatrixBuilder, PicksFastestMedianAndSlowest) {
  MatrixBuilder builder(false, false);
  const auto transfer = [](int64_t dur_ns) {
    return std::vector<Transfer>{{"HCCS", 0, 1, 0, dur_ns, 1000000}};
  };
  builder.Add("hcom_allReduce__0", "g", transfer(2000));
  builder.Add("hcom_allReduce__1", "g", transfer(1000));
  builder.Add("hcom_allReduce__2", "g", transfer(4000));
  const std::vector<MatrixEntry> entries = builder.Finish();
  ASSERT_EQ(entries.size(), 6u);
  const char* const kPicked[] = {"hcom_allReduce__1", "hcom_allReduce__0", "hcom_allReduce__2", "",
                                 "hcom_allReduce__0", "hcom_allReduce__1"};
  const char* const kNames[] = {"allreduce-top1",  "allreduce-middle",  "allreduce-bottom1",
                                "allreduce-total", "allreduce-bottom2", "allreduce-bottom3"};
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(entries[i].name, kNames[i]);
    EXPECT_EQ(entries[i].links[0].picked_op, kPicked[i]);
  }
  EXPECT_DOUBLE_EQ(entries[3].links[0].transit_size_mb, 3);
  EXPECT_DOUBLE_EQ(entries[3].links[0].bandwidth_gbps, 428.5714);
}

}  // namespace
}  // namespace steplens::analysis
