#include "analysis/viewer/test_metric.h"

namespace steplens::analysis::viewer {
namespace {

// A rank with communication results.
struct ResultRank : TestRank {
  using TestRank::TestRank;
  void Time(std::string_view op, double elapse_ms, double transit_ms, double wait_ms,
            double sync_ms, std::string_view group_name = "12345678") {
    store.comm_times.Append({.step = Text("step7"),
                             .kind = Text("collective"),
                             .op_name = Text(op),
                             .group_name = Text(group_name),
                             .elapse_ms = elapse_ms,
                             .transit_ms = transit_ms,
                             .wait_ms = wait_ms,
                             .synchronization_ms = sync_ms});
  }
  void Traffic(std::string_view op, std::string_view transport, double size_mb, double time_ms) {
    store.comm_bandwidths.Append({.step = Text("step7"),
                                  .kind = Text("collective"),
                                  .op_name = Text(op),
                                  .group_name = Text("12345678"),
                                  .transport = Text(transport),
                                  .transit_size_mb = size_mb,
                                  .transit_ms = time_ms,
                                  .bandwidth_gbps = size_mb / time_ms,
                                  .large_packet_ratio = 0});
  }
};

store::Job TwoRanks() {
  ResultRank a(0);
  ResultRank b(1);
  a.Time("hcom_allReduce__678_0_1", 10, 2, 6, 5);
  b.Time("hcom_allReduce__678_0_1", 4, 2, 0, 0);
  a.Time("hcom_allReduce__678_1_1", 3, 1, 1, 0);
  b.Time("hcom_allReduce__678_1_1", 3, 1, 1, 0);
  a.Traffic("hcom_allReduce__678_0_1", "SDMA", 8, 0.5);
  a.Traffic("hcom_allReduce__678_1_1", "SDMA", 32, 4);
  return JobOf(a, b);
}

TEST(CommDurations, RatiosIdleAndSkewOfAnOperator) {
  MetricArgs args;
  args.values.emplace("operator", std::string("hcom_allReduce__678_0_1"));
  const table::Table table = TableOf(TwoRanks(), "comm_durations", "durations", args);
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(Cell(table, "Synchronization Time Ratio", 0), 0.7143);
  EXPECT_EQ(Cell(table, "Wait Time Ratio", 0), 0.75);
  EXPECT_EQ(Cell(table, "Idle Time(ms)", 0), 2);
  EXPECT_EQ(Cell(table, "SDMA BW(GB/s)", 0), 16);
  EXPECT_EQ(table.Find("source")->texts[0], "results");
}

TEST(CommDurations, TheTotalIsTheSumOfItsOperators) {
  MetricArgs args;
  args.values.emplace("rank", int64_t{0});
  const table::Table total = TableOf(TwoRanks(), "comm_durations", "durations", args);
  const table::Table parts = TableOf(TwoRanks(), "comm_durations", "operators", args);
  ASSERT_EQ(parts.rows(), 2u);
  for (const char* column :
       {"Elapsed Time(ms)", "Transit Time(ms)", "Wait Time(ms)", "Idle Time(ms)"}) {
    EXPECT_DOUBLE_EQ(Cell(total, column, 0), Cell(parts, column, 0) + Cell(parts, column, 1));
  }
}

TEST(CommDurations, OnlyTheStepAndGroupAskedFor) {
  MetricArgs args;
  args.values.emplace("step", int64_t{8});
  EXPECT_EQ(TableOf(TwoRanks(), "comm_durations", "durations", args).rows(), 0u);
  args.values = {{"group", std::string("12345678")}, {"step", int64_t{7}}};
  EXPECT_EQ(TableOf(TwoRanks(), "comm_durations", "durations", args).rows(), 2u);
  args.values["group"] = std::string("p2p");
  EXPECT_EQ(TableOf(TwoRanks(), "comm_durations", "durations", args).rows(), 0u);
}

TEST(CommSlowRanks, WhoStayedShortestIsSlow) {
  const table::Table table = TableOf(TwoRanks(), "comm_slow_ranks", "slow_ranks");
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(table.Find("Slow Rank")->ints[0], 1);
  EXPECT_EQ(table.Find("Fastest Rank")->ints[0], 0);
  EXPECT_EQ(Cell(table, "Difference(ms)", 0), 6);
  EXPECT_EQ(table.Find("Operator")->texts[0], "hcom_allReduce__678_0_1");
  EXPECT_EQ(Cell(table, "Operator Difference(ms)", 0), 6);
}

TEST(CommAdvice, CountsSmallPackets) {
  const table::Table table = TableOf(TwoRanks(), "comm_advice", "packet");
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(Cell(table, "Small Packet(%)", 0), 50);
  EXPECT_EQ(Cell(table, "Small Packet Time(ms)", 0), 0.5);
  EXPECT_EQ(table.Find("Result")->texts[0], "Issue");
}

TEST(CommAdvice, FindsRetransmissionAndContention) {
  ResultRank a(0);
  a.Time("hcom_allReduce__678_0_1", 5000, 10, 0, 0);
  a.Traffic("hcom_allReduce__678_0_1", "RDMA", 100, 4500);
  a.Traffic("hcom_allReduce__678_0_1", "SDMA", 10, 1);
  a.Comm("hcom_allReduce__678_0_1", 0, 1000);
  a.Task("m", "MatMulV3", 500, 1500);  // within the 5 s that the results say the call took
  const store::Job job = JobOf(a);
  EXPECT_EQ(TableOf(job, "comm_advice", "retransmission").rows(), 1u);
  const table::Table contention = TableOf(job, "comm_advice", "contention");
  ASSERT_EQ(contention.rows(), 1u);
  EXPECT_EQ(contention.Find("overlap_us")->ints[0], 1000);
}

TEST(CommAdvice, FindsUnalignedTasksAndTheirCollective) {
  ResultRank a(0);
  a.Comm("hcom_allReduce__678_0_1", 0, 1000);
  const auto task = [&](int64_t begin_ns, int64_t bytes, const char* link) {
    a.store.comm_tasks.Append({.name = a.Text("Memcpy"),
                               .group_name = a.Text("group_a_name"),
                               .begin_ns = begin_ns,
                               .dur_ns = 10,
                               .transport = a.Text("SDMA"),
                               .link = a.Text(link),
                               .size_bytes = bytes});
  };
  task(10, 1000, "HCCS");
  task(20, 1024, "HCCS");
  task(30, 500, "HCCS");
  task(40, 1000, "ON_CHIP");
  const table::Table table = TableOf(JobOf(a), "comm_advice", "byte_alignment");
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(table.Find("operator")->texts[0], "hcom_allReduce__678_0_1");
  EXPECT_EQ(table.Find("tasks")->ints[0], 1);
}

TEST(CommDurations, ResultsWithoutWaitsLeaveThemToArrivals) {
  ResultRank a(0);
  ResultRank b(1);
  a.Time("gloo:all_reduce", 9, 9, 0, 0);
  b.Time("gloo:all_reduce", 4, 4, 0, 0);
  const table::Table table = TableOf(JobOf(a, b), "comm_durations", "durations");
  EXPECT_EQ(Cell(table, "Transit Time(ms)", 0), 4);
  EXPECT_EQ(Cell(table, "Wait Time(ms)", 0), 5);
  EXPECT_EQ(Cell(table, "Wait Time(ms)", 1), 0);
  EXPECT_EQ(table.Find("source")->texts[0], "arrivals");
}

// One link to local rank 7: the group has eight ranks, of which two are here.
TEST(CommDurations, RanksThatWereNotCapturedAreCounted) {
  store::Job job = TwoRanks();
  job.ranks[0].comm_links.Append(
      {.group_name = job.ranks[0].strings.Intern("12345678"), .src_rank = 0, .dst_rank = 7});
  const MetricArgs args;
  const auto answer = ComputeMetric("comm_durations", args, job);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->tables[0].Find("captured")->ints[0], 2);
  EXPECT_EQ(answer->tables[0].Find("members")->ints[0], 8);
  ASSERT_EQ(answer->warnings.size(), 1u);
  EXPECT_EQ(English(answer->warnings[0]),
            "2 of 8 ranks were captured: the rank that others wait for may be missing.");
  EXPECT_EQ(TableOf(job, "comm_slow_ranks", "slow_ranks").rows(), 0u);
}

TEST(CommDurations, WithoutResultsTheTimelineSpeaks) {
  TestRank a(0);
  TestRank b(1);
  a.Comm("hcom_allReduce__001_0_1", 0, 9000000);
  b.Comm("hcom_allReduce__001_0_1", 5000000, 9000000);
  const store::Job job = JobOf(a, b);
  const table::Table table = TableOf(job, "comm_durations", "durations");
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(Cell(table, "Elapsed Time(ms)", 0), 9);
  EXPECT_EQ(Cell(table, "Transit Time(ms)", 0), 4);
  EXPECT_EQ(Cell(table, "Wait Time(ms)", 0), 5);
}

}  // namespace
}  // namespace steplens::analysis::viewer
