#include "analysis/verify/test_store.h"

namespace steplens::analysis::verify {
namespace {

// One all-reduce of 10 ms: 3 ms transit, 2 ms wait, 12 MB over HCCS in two kinds of packets.
struct Communication : TestStore {
  Communication() {
    for (const char* op : {"hcom_allReduce__1_0_1", "Total Op Info"}) {
      const bool is_total = std::string_view(op) == "Total Op Info";
      store.comm_times.Append({.step = Text("step1"),
                               .kind = Text("collective"),
                               .op_name = Text(op),
                               .elapse_ms = 10,
                               .transit_ms = 3,
                               .wait_ms = 2,
                               .synchronization_ms = 1,
                               .idle_ms = 5,
                               .wait_ratio = 0.4,
                               .synchronization_ratio = 0.25});
      for (const char* transport : {"HCCS", "SDMA"}) {
        Link link{.step = Text("step1"),
                  .kind = Text("collective"),
                  .op_name = Text(op),
                  .transport = Text(transport),
                  .transit_size_mb = 12,
                  .transit_ms = 6};
        if (!is_total) link.bandwidth_gbps = 2;
        store.comm_bandwidths.Append(link);
      }
    }
    store.comm_packets.Append(
        {.bandwidth_row = 0, .package_size_mb = 4, .count = 2, .total_ms = 4});
    store.comm_packets.Append(
        {.bandwidth_row = 0, .package_size_mb = 2, .count = 2, .total_ms = 2});
    AddMatrix("allreduce-total", "HCCS", 12);
    AddMatrix("allreduce-total", "LOCAL", 99);
    AddMatrix("allreduce-top1", "HCCS", 12);
    Slice(ThreadOf("HCCL", "Group 0 Communication"), 100, 150, "hcom_allReduce__1_0_1");
  }

  using Link = store::CommBandwidthTable::Row;

  void AddMatrix(std::string_view op, std::string_view transport, double size_mb) {
    store.comm_links.Append({.step = Text("step1"),
                             .kind = Text("collective"),
                             .op_name = Text(op),
                             .transport = Text(transport),
                             .transit_size_mb = size_mb});
  }
};

TEST(VerifyCommTimes, AddUp) { ExpectHolds(Communication().Run("15"), "6 values"); }

TEST(VerifyCommTimes, ReportsTimesThatDoNotAddUp) {
  Communication s;
  s.store.comm_times.idle_ms.Set(0, 4);
  ExpectBroken(s.Run("15"), "1 of 6 values, largest deviation 1",
               "communication.json step1 hcom_allReduce__1_0_1: Elapse Time(ms) is 10, expected 9");
}

TEST(VerifyCommTimes, ReportsAWrongRatio) {
  Communication s;
  s.store.comm_times.wait_ratio.Set(1, 0.5);
  ExpectBroken(s.Run("15"), "1 of 6 values, largest deviation 0.1",
               "communication.json step1 Total Op Info: Wait Time Ratio is 0.5, expected 0.4");
}

TEST(VerifyCommMatrix, CarriesTheTrafficOfTheTotals) {
  ExpectHolds(Communication().Run("15.matrix"), "1 classes of operations");
}

TEST(VerifyCommMatrix, ReportsLostTraffic) {
  Communication s;
  s.store.comm_links.transit_size_mb.Set(0, 11);
  ExpectBroken(s.Run("15.matrix"), "1 of 1 classes of operations, largest deviation 1",
               "communication_matrix.json step1 collective: HCCS traffic in MB is 11, expected 12");
}

TEST(VerifyCommMatrix, TakesTheOperationsWhereADbHasNoTotals) {
  Communication s;
  s.store.info.format = store::Format::kDb;
  for (const size_t row : {size_t{2}, size_t{3}})
    s.store.comm_bandwidths.op_name.Set(row, s.Text("hcom_other"));
  ExpectBroken(s.Run("15.matrix"), "1 of 1 classes of operations, largest deviation 12",
               "CommAnalyzerMatrix step1 collective: HCCS traffic in MB is 12, expected 24");
}

TEST(VerifyCommMatrix, SumsUpTheOperationsWhereTheKeysAreTheirNames) {
  Communication s;
  s.store.comm_links = {};
  s.AddMatrix("hcom_allReduce__1_0_1", "HCCS", 7);
  s.AddMatrix("hcom_allReduce__1_1_1", "HCCS", 5);
  s.AddMatrix("hcom_allReduce__1_1_1", "LOCAL", 99);
  ExpectHolds(s.Run("15.matrix"), "1 classes of operations");
  s.AddMatrix("hcom_allReduce__1_2_1", "HCCS", 1);
  ExpectBroken(s.Run("15.matrix"), "1 of 1 classes of operations, largest deviation 1",
               "communication_matrix.json step1 collective: HCCS traffic in MB is 13, expected 12");
}

TEST(VerifyCommTotals, AreTheSumOfTheOperations) {
  Communication s;
  ExpectHolds(s.Run("communication.totals"), "9 values of Total Op Info");
  s.store.comm_times.transit_ms.Set(1, 4);
  s.store.comm_bandwidths.transit_size_mb.Set(3, 13);
  const CheckResult result = s.Run("communication.totals");
  ExpectBroken(result, "2 of 9 values of Total Op Info, largest deviation 1",
               "communication.json step1 Total Op Info: Transit Time(ms) is 4, expected 3");
  EXPECT_EQ(result.offending.back(),
            "communication.json step1 Total Op Info SDMA: Transit Size(MB) is 13, expected 12");
}

TEST(VerifyCommBandwidth, IsSizeOverTimeAndThePacketsFit) {
  Communication s;
  ExpectHolds(s.Run("communication.bandwidth"), "4 values");
  s.store.comm_bandwidths.bandwidth_gbps.Set(1, 3);
  s.store.comm_packets.count.Set(1, 3);
  const CheckResult result = s.Run("communication.bandwidth");
  ExpectBroken(
      result, "2 of 4 values, largest deviation 2",
      "communication.json step1 hcom_allReduce__1_0_1 SDMA: Bandwidth(GB/s) is 3, expected 2");
  EXPECT_EQ(result.offending.back(),
            "communication.json step1 hcom_allReduce__1_0_1 HCCS: size of all packets in MB is 14, "
            "expected 12");
}

TEST(VerifyCommBandwidth, CountsPacketsAbove32MbAsLarge) {
  Communication s;
  s.store.comm_bandwidths.large_packet_ratio.Set(0, 0.5);
  ExpectBroken(s.Run("communication.bandwidth"), "1 of 5 values, largest deviation 0.5",
               "communication.json step1 hcom_allReduce__1_0_1 HCCS: Large Packet Ratio is 0.5, "
               "expected 0");
}

TEST(VerifyCommLinks, HaveTheBandwidthOfTheirSizeAndTime) {
  Communication s;
  ExpectNotApplicable(s.Run("communication.links"), "no links to compare");
  s.store.comm_links.transit_ms.Set(0, 6);
  s.store.comm_links.bandwidth_gbps.Set(0, 2);
  s.store.comm_links.src_rank.Set(0, 0);
  s.store.comm_links.dst_rank.Set(0, 1);
  ExpectHolds(s.Run("communication.links"), "1 links");
  s.store.comm_links.transit_size_mb.Set(0, 18);
  ExpectBroken(s.Run("communication.links"), "1 of 1 links, largest deviation 1",
               "communication_matrix.json step1 allreduce-total 0-1: Bandwidth(GB/s) is 2, "
               "expected 3");
}

TEST(VerifyCommOps, AreTheCollectivesOfTheTimeline) {
  ExpectHolds(Communication().Run("communication.ops"), "2 operations");
}

TEST(VerifyCommOps, ReportsWhatEitherSideLacks) {
  Communication s;
  s.store.slices.name.Set(0, s.Text("hcom_allGather__1_0_1"));
  const CheckResult result = s.Run("communication.ops");
  ExpectBroken(result, "2 of 2 operations",
               "communication.json step1 hcom_allReduce__1_0_1: not on the timeline");
  EXPECT_EQ(result.offending.back(), "trace: hcom_allGather__1_0_1 is not in communication.json");
}

TEST(VerifyCommOps, MayLieBetweenSeveralSteps) {
  Communication s;
  s.store.comm_times.step.Set(1, s.Text("step2"));
  s.Slice(store::TrackId{1}, 500, 550, "hcom_allGather__1_0_1");
  ExpectHolds(s.Run("communication.ops"), "1 operations");
}

TEST(VerifyCommRules, NeedTheFiles) {
  const TestStore s;
  ExpectNotApplicable(s.Run("15"), "no communication.json");
  ExpectNotApplicable(s.Run("15.matrix"), "no communication_matrix.json");
  ExpectNotApplicable(s.Run("communication.totals"), "no communication.json");
  ExpectNotApplicable(s.Run("communication.bandwidth"), "no communication.json");
  ExpectNotApplicable(s.Run("communication.ops"), "no communication.json");
}

}  // namespace
}  // namespace steplens::analysis::verify
