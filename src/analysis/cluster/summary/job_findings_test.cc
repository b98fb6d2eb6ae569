#include "analysis/cluster/summary/job_findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/advice/finding_table.h"
#include "analysis/testing/store_builder.h"

namespace steplens::analysis::cluster {
namespace {

using testing::ElementsAre;

// A rank of a job of four that computes for so long and then meets the others in a collective,
// which ends when the last one has come.
store::TraceStore Rank(int64_t rank, int64_t computing_ns, double mhz = 0) {
  constexpr int64_t kAllCameNs = 60'000'000;
  StoreBuilder b;
  b.store.info.rank = rank;
  b.store.info.format = store::Format::kText;
  const store::TrackId group = b.ThreadOf("Communication", "Group 0 Communication");
  b.Kernel("MatMul", "MatMul", "AI_CORE", 0, computing_ns);
  b.CommOp("hcom_allReduce__123_0_1", computing_ns, kAllCameNs + 1'000'000, group);
  b.store.comm_ops.group_name.Set(0, b.Text("123"));
  if (mhz > 0) {
    const store::TrackId clock = b.Thread(b.Process("AI Core Freq"), "AI Core Freq");
    b.store.counters.Append({.track = clock, .ts_ns = 0, .value = mhz});
  }
  return std::move(b.store);
}

TEST(FindInJob, NamesTheRanksAsNumbers) {
  std::vector<store::TraceStore> ranks;
  for (const int64_t rank : {0, 1, 2, 3}) ranks.push_back(Rank(rank, 20'000'000));
  ranks.push_back(Rank(12, 60'000'000));
  const Result<JobFindings> found = FindInJob(ranks, {});
  ASSERT_TRUE(found.ok());
  ASSERT_FALSE(found->findings.empty());
  EXPECT_EQ(found->findings.front().rule, RuleId::kLateRank);
  EXPECT_THAT(found->findings.front().ranks, ElementsAre(12));
  const table::Table table = ClusterFindingTable(found->findings, found->step_ms);
  EXPECT_EQ(table.Find("ranks")->texts[0], "12");
}

// Four ranks work for 61 ms, the last one for 121 ms: 73 ms on average is what the first line says.
TEST(FindInJob, SharesAreOfTheStepThatIsShown) {
  std::vector<store::TraceStore> ranks;
  for (const int64_t rank : {0, 1, 2, 3}) ranks.push_back(Rank(rank, 20'000'000));
  StoreBuilder late;
  late.store = Rank(12, 60'000'000);
  late.Kernel("MatMul", "MatMul", "AI_CORE", 61'000'000, 121'000'000);
  ranks.push_back(std::move(late.store));
  const Result<JobFindings> found = FindInJob(ranks, {});
  ASSERT_TRUE(found.ok());
  EXPECT_DOUBLE_EQ(found->step_ms, 73);
  ASSERT_FALSE(found->findings.empty());
  const table::Table table = ClusterFindingTable(found->findings, found->step_ms);
  EXPECT_DOUBLE_EQ(table.Find("shareOfStep(%)")->doubles[0],
                   100 * table.Find("msPerStep")->doubles[0] / 73);
}

// As `cluster -m summary` does, which reads the timelines of late ranks for it.
TEST(FindInJob, NamesTheClockOfARankThatComputesLonger) {
  std::vector<store::TraceStore> ranks;
  for (const int64_t rank : {0, 1, 2, 3}) ranks.push_back(Rank(rank, 20'000'000, 1800));
  ranks.push_back(Rank(12, 60'000'000, 600));
  const Result<JobFindings> found = FindInJob(ranks, {});
  ASSERT_TRUE(found.ok());
  ASSERT_FALSE(found->findings.empty());
  const std::string reason = English(found->findings.front().reason);
  EXPECT_NE(reason.find("frequency of rank 12 is 600 MHz"), std::string::npos) << reason;
}

// Both compute as long; one of them stays shorter in the collective. Whether others took part, and
// came later still, nobody says.
TEST(FindInJob, BlamesNobodyForWaitingLessWhereTheGroupMayHaveOtherRanks) {
  const auto ranks_of = [](std::string_view distributed_info) {
    std::vector<store::TraceStore> ranks;
    for (const int64_t rank : {0, 1}) {
      StoreBuilder b;
      b.store.info.rank = rank;
      const store::TrackId group = b.ThreadOf("Communication", "Group 0 Communication");
      b.Kernel("MatMul", "MatMul", "AI_CORE", 0, 20'000'000);
      b.CommOp("hcom_allReduce__123_0_1", 20'000'000, rank == 0 ? 60'000'000 : 30'000'000, group);
      b.store.comm_ops.group_name.Set(0, b.Text("123"));
      if (!distributed_info.empty())
        b.store.meta.Append({b.Text("distributedInfo"), b.Text(distributed_info)});
      ranks.push_back(std::move(b.store));
    }
    return ranks;
  };
  const Result<JobFindings> unknown = FindInJob(ranks_of(""), {});
  ASSERT_TRUE(unknown.ok());
  EXPECT_TRUE(unknown->findings.empty());
  ASSERT_EQ(unknown->warnings.size(), 1u);
  EXPECT_EQ(unknown->warnings[0].key, "warning.group_size_unknown");

  const Result<JobFindings> partly =
      FindInJob(ranks_of(R"({"pg_config": [{"pg_name": "123", "pg_size": 8}]})"), {});
  ASSERT_TRUE(partly.ok());
  EXPECT_TRUE(partly->findings.empty());
  ASSERT_EQ(partly->warnings.size(), 1u);
  EXPECT_EQ(English(partly->warnings[0]).substr(0, 26), "2 of 8 ranks were captured");

  const Result<JobFindings> whole =
      FindInJob(ranks_of(R"({"pg_config": [{"pg_name": "123", "pg_size": 2}]})"), {});
  ASSERT_TRUE(whole.ok());
  ASSERT_EQ(whole->findings.size(), 1u);
  EXPECT_THAT(whole->findings[0].ranks, ElementsAre(1));
  EXPECT_TRUE(whole->warnings.empty());
}

TEST(FindInJob, FindsNothingInNothing) {
  const Result<JobFindings> found = FindInJob({}, {});
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found->findings.empty());
}

}  // namespace
}  // namespace steplens::analysis::cluster
