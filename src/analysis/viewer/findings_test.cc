// Findings, dispatch, experts and passes on hand-made captures.
#include <algorithm>

#include "analysis/cluster/recipe_tables.h"
#include "analysis/parallel/rl_fsdp.h"
#include "analysis/viewer/test_metric.h"

namespace steplens::analysis::viewer {
namespace {

// An operator launches late: the device is free for nine tenths of the time.
store::Job HostBound() {
  TestRank rank;
  rank.Slice(rank.host, 0, 100, "a", "cpu_op");
  rank.Slice(rank.host, 100, 4000, "slow", "cpu_op");
  rank.Slice(rank.host, 4000, 4100, "b", "cpu_op");
  rank.Task("k1", "Add", 50, 150);
  rank.Task("k2", "Add", 4030, 4130);
  rank.Flow("async_npu", rank.host, 0, rank.stream, 50);
  rank.Flow("async_npu", rank.host, 4000, rank.stream, 4030);
  return JobOf(rank);
}

TEST(Findings, NamesTheHostThatIsLate) {
  const table::Table table = TableOf(HostBound(), "findings", "findings");
  ASSERT_GE(table.rows(), 1u);
  EXPECT_EQ(table.Find("kind")->texts[0], "host_bound");
  EXPECT_NEAR(Cell(table, "gain_us", 0), 3.85, 0.01);
  EXPECT_FALSE(table.Find("reasonZh")->texts[0].empty());
  EXPECT_EQ(table.Find("t0_ns")->ints[0], 150);
}

TEST(Findings, OfOneSteadyKernelPromiseNothing) {
  TestRank rank;
  rank.Task("k1", "Add", 0, 1000);
  const table::Table table = TableOf(JobOf(rank), "findings", "findings");
  for (size_t row = 0; row < table.rows(); ++row) {
    EXPECT_FALSE(Cell(table, "gain_us", row) > 0) << table.Find("kind")->texts[row];
  }
}

// Packets of 1 MB at 2.5 GB/s, where 18 are possible: 40 MB in 16 ms would take 2.2 ms. Only 3 ms
// of a rank's communication are not hidden.
void SendSmallPackets(TestRank& rank) {
  rank.Task("k1", "Add", 0, 13'000'000);
  rank.Comm("hcom_allReduce__001_0_1", 0, 16'000'000);
  rank.Step(7, 0, 16'000'000);
  const auto step = rank.Text("step7");
  const auto kind = rank.Text("collective");
  const auto op = rank.Text("hcom_allReduce__001_0_1");
  const auto group = rank.Text("12345678");
  rank.store.comm_times.Append({.step = step,
                                .kind = kind,
                                .op_name = op,
                                .group_name = group,
                                .start_us = 0,
                                .elapse_ms = 16,
                                .transit_ms = 16,
                                .wait_ms = 0});
  rank.store.comm_bandwidths.Append({.step = step,
                                     .kind = kind,
                                     .op_name = op,
                                     .group_name = group,
                                     .transport = rank.Text("HCCS"),
                                     .transit_size_mb = 40,
                                     .transit_ms = 16,
                                     .bandwidth_gbps = 2.5,
                                     .large_packet_ratio = 0});
  rank.store.comm_packets.Append(
      {.bandwidth_row = 0, .package_size_mb = 1, .count = 40, .total_ms = 16});
}

TEST(Findings, NameSmallPacketsAsTheSummaryDoes) {
  TestRank a(0);
  TestRank b(1);
  SendSmallPackets(a);
  SendSmallPackets(b);
  const store::Job job = JobOf(a, b);
  const Result<cluster::Answer> summary = AskRecipe("summary", {}, job);
  ASSERT_TRUE(summary.ok());
  ASSERT_EQ(summary->findings.size(), 1u);
  const Finding& small = summary->findings[0];
  EXPECT_EQ(small.rule, RuleId::kSmallPackets);
  EXPECT_EQ(English(small.reason),
            "100 % of the transfer time goes to packets below 16 MB, which reach 2.5 of 18.0 GB/s");
  EXPECT_LE(small.saving->at_most_ms, 13.8) << "16 ms less 40 MB at 18 GB/s";
  const table::Table table = TableOf(job, "findings", "findings");
  size_t named = 0;
  for (size_t i = 0; i < table.rows(); ++i) {
    if (table.Find("kind")->texts[i] != "small_packets") continue;
    ++named;
    EXPECT_EQ(table.Find("reason")->texts[i], English(small.reason));
    EXPECT_EQ(table.Find("subject")->texts[i], English(small.subject));
  }
  EXPECT_EQ(named, 1u);
}

TEST(Findings, ARecordingOfTheHostHasNoPackets) {
  TestRank a(0);
  TestRank b(1);
  for (TestRank* rank : {&a, &b}) {
    SendSmallPackets(*rank);
    rank->store.meta.Append(
        {.name = rank->Text("steplens_host.device"), .value = rank->Text("cpu")});
  }
  const store::Job job = JobOf(a, b);
  const table::Table table = TableOf(job, "findings", "findings");
  const auto& kinds = table.Find("kind")->texts;
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), "small_packets"), 0);
  EXPECT_EQ(TableOf(job, "comm_advice", "packet").rows(), 0u);
}

// aten::mul queues one task; the thread of the queue launches it.
//   host   |----------- aten::mul 0-100 -----------|  Enqueue 20-30
//   queue                        |Dequeue 50-90|
//   CANN                             |Node@launch 60-80|
TEST(Dispatch, FollowsACallToItsLaunch) {
  TestRank rank;
  const auto queue = rank.ThreadOf("Python", "Thread 2");
  const auto cann = rank.ThreadOf("CANN", "Thread 2");
  rank.store.tracks.tid.Set(static_cast<size_t>(queue), rank.Text("2"));
  rank.store.tracks.tid.Set(static_cast<size_t>(cann), rank.Text("2"));
  rank.Slice(rank.host, 0, 100, "aten::mul", "cpu_op");
  rank.Slice(rank.host, 10, 40, "aclnnMul", "cpu_op");
  rank.Slice(rank.host, 20, 30, "Enqueue", "enqueue");
  rank.Slice(queue, 50, 90, "Dequeue", "dequeue");
  rank.Slice(cann, 60, 80, "Node@launch");
  rank.Flow("async_task_queue", rank.host, 20, queue, 50);
  const table::Table table = TableOf(JobOf(rank), "dispatch", "dispatch");
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(table.Find("Name")->texts[0], "aten::mul");
  EXPECT_EQ(table.Find("Path")->texts[0], "ACLNN");
  const auto ns = [&](const char* column) { return table.Find(column)->ints[0]; };
  EXPECT_EQ(ns("Prepare(us)"), 20);
  EXPECT_EQ(ns("Python API(us)"), 100);
  EXPECT_EQ(ns("Enqueue(us)"), 10);
  EXPECT_EQ(ns("Queue(us)"), 20);
  EXPECT_EQ(ns("Pipeline2(us)"), 30) << "from the dequeue to the end of the launch";
  EXPECT_EQ(ns("Launch(us)"), 20);
  EXPECT_EQ(ns("E2E(us)"), 80);
  EXPECT_EQ(table.Find("Name")->texts[1], "aclnnMul");
  EXPECT_EQ(table.Find("parent")->ints[1], table.Find("id")->ints[0]);
}

TEST(Experts, DividesTheKernelsOfAStepIntoLayers) {
  TestRank a(0);
  TestRank b(1);
  for (int64_t i = 0; i < 4; ++i) {
    a.Task("GroupedMatmul", "GroupedMatmul", 1000 * i, 1000 * i + 100);
    b.Task("GroupedMatmul", "GroupedMatmul", 1000 * i, 1000 * i + (i < 2 ? 300 : 100));
  }
  MetricArgs args;
  args.values.emplace("layers", int64_t{2});
  const store::Job job = JobOf(a, b);
  const table::Table load = TableOf(job, "experts", "load", args);
  ASSERT_EQ(load.rows(), 4u);
  EXPECT_EQ(load.Find("time_us")->ints[1], 600) << "layer 0 of rank 1";
  const table::Table balance = TableOf(job, "experts", "balance", args);
  EXPECT_EQ(balance.Find("slowest_rank")->ints[0], 1);
  EXPECT_EQ(Cell(balance, "imbalance", 0), 1.5);
  EXPECT_EQ(Cell(balance, "imbalance", 1), 1);
  args.values["layers"] = int64_t{0};
  EXPECT_FALSE(ComputeMetric("experts", args, job).ok());
}

TEST(FindFsdpPasses, EndsABackwardPassWhereAnEventIsRecorded) {
  TestRank rank;
  rank.Slice(rank.host, 0, 100, "FullyShardedDataParallel.forward", "cpu_op");
  rank.Slice(rank.host, 10, 90, "FullyShardedDataParallel.forward", "cpu_op");
  rank.Slice(rank.host, 100, 150, "autograd::engine::evaluate_function: A", "cpu_op");
  rank.Slice(rank.host, 150, 200, "autograd::engine::evaluate_function: B", "cpu_op");
  rank.Slice(rank.host, 210, 220, "record_event", "cpu_op");
  rank.Slice(rank.host, 300, 350, "autograd::engine::evaluate_function: C", "cpu_op");
  const std::vector<FsdpPass> passes = FindFsdpPasses(rank.store, ClassifyTracks(rank.store));
  ASSERT_EQ(passes.size(), 3u);
  EXPECT_TRUE(passes[0].is_forward);
  EXPECT_EQ(passes[1].end_ns, 200);
  EXPECT_EQ(passes[2].begin_ns, 300);
  EXPECT_FALSE(passes[2].is_forward);
}

}  // namespace
}  // namespace steplens::analysis::viewer
