#include "analysis/compare/runs/run_summary.h"

#include <gtest/gtest.h>

#include "analysis/compare/runs/rank_part.h"
#include "analysis/compare/runs/test_runs.h"
#include "analysis/viewer/test_rank.h"
#include "base/archive.h"

namespace steplens::analysis::runs {
namespace {

SumRow Row(RowKind kind, const std::string& name, std::vector<int64_t> total_ns) {
  SumRow row;
  row.kind = kind;
  row.name = name;
  row.calls.assign(total_ns.size(), 1);
  row.total_ns = std::move(total_ns);
  return row;
}

const SumRow* FindRow(const std::vector<SumRow>& rows, RowKind kind, std::string_view name) {
  for (const SumRow& row : rows) {
    if (row.kind == kind && row.name == name) return &row;
  }
  return nullptr;
}

TEST(KeepLongest, LosesNothingOfTheSums) {
  std::vector<SumRow> rows = {
      Row(RowKind::kKernel, "a", {1, 2}), Row(RowKind::kKernel, "b", {30, 40}),
      Row(RowKind::kKernel, "c", {5, 9}), Row(RowKind::kOperator, "o", {7, 7})};
  std::array<int64_t, kRowKinds> cut_ns{};
  KeepLongest(rows, 1, cut_ns);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].name, "b");
  EXPECT_EQ(rows[1].name, kOthersName);
  EXPECT_EQ(rows[1].total_ns, (std::vector<int64_t>{6, 11}));
  EXPECT_EQ(rows[1].calls, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(rows[2].name, "o");
  EXPECT_EQ(cut_ns[static_cast<size_t>(RowKind::kKernel)], 7) << "(5 + 9) / 2 steps";
  EXPECT_EQ(cut_ns[static_cast<size_t>(RowKind::kOperator)], 0);
}

TEST(RunFolder, SumsNamesAndKeepsTheStepsOfRanks) {
  RankPart first;
  first.rank = 0;
  first.steps.resize(2);
  first.steps[0].step = 5;
  first.steps[0][StepPart::kE2e] = 100;
  first.steps[1].step = 6;
  first.steps[1][StepPart::kE2e] = 200;
  first.rows = {Row(RowKind::kKernel, "k", {10, 20})};
  RankPart second;  // lacks step 5
  second.rank = 1;
  second.steps.resize(1);
  second.steps[0].step = 6;
  second.steps[0][StepPart::kE2e] = 300;
  second.rows = {Row(RowKind::kKernel, "k", {40})};
  RunFolder folder;
  folder.Add(first, "Level0");
  folder.Add(second, "Level1");
  const RunSummary run = folder.Finish("here");
  EXPECT_EQ(run.steps, (std::vector<int64_t>{5, 6}));
  EXPECT_EQ(run.level, "mixed");
  EXPECT_EQ(JobValues(run, StepPart::kE2e), (std::vector<double>{100, 250}));
  EXPECT_TRUE(std::isnan(JobValues(run, StepPart::kWait)[0]));
  ASSERT_EQ(run.rows.size(), 1u);
  EXPECT_EQ(run.rows[0].total_ns, (std::vector<int64_t>{10, 60}));
  EXPECT_EQ(RowValues(run.rows[0]), (std::vector<double>{10, 30}));
  EXPECT_EQ(CallsOf(run.rows[0]), 1);
}

TEST(RunFolder, ThinsOutVeryLongRuns) {
  const RunSummary run = TestJob{.ranks = 1, .steps = 1000}.Run();
  EXPECT_EQ(run.steps.size(), 256u);
  EXPECT_EQ(run.ranks[0].steps.size(), 256u);
  EXPECT_EQ(run.rows[0].total_ns.size(), 256u);
}

TEST(RunSummary, SurvivesTheArchive) {
  const RunSummary run = TestJob{}.Run();
  const std::string bytes = ToBytes(run);
  EXPECT_LT(bytes.size(), 4096u);
  const auto again = FromBytes<RunSummary>(bytes);
  ASSERT_TRUE(again);
  EXPECT_EQ(ToBytes(*again), bytes);
}

TEST(SummariseRank, SumsWorkByStepAndName) {
  viewer::TestRank rank(3);
  rank.Step(1, 0, 1000);
  rank.Step(2, 1000, 2000);
  rank.Slice(rank.host, 50, 90, "aten::mm", "cpu_op");
  rank.Slice(rank.host, 60, 70, "aten::empty", "cpu_op");
  rank.Task("MatMul1", "MatMulV2", 100, 400);
  rank.Comm("hcom_allReduce__586_0_1", 400, 600);
  rank.Task("MatMul1", "MatMulV2", 1100, 1500);
  rank.Task("Add2", "Add", 1500, 1600);
  rank.store.memory_samples.Append({.component = rank.Text("PTA"),
                                    .ts_ns = 500,
                                    .allocated_bytes = 700,
                                    .reserved_bytes = 900,
                                    .device = rank.Text("NPU:0")});
  rank.store.memory_samples.Append({.component = rank.Text("PTA"),
                                    .ts_ns = 1500,
                                    .allocated_bytes = 300,
                                    .reserved_bytes = 900,
                                    .device = rank.Text("NPU:0")});
  const RankPart part = SummariseRank(RankView(rank.store), cluster::DescribeRank(rank.store));
  EXPECT_EQ(part.rank, 3);
  EXPECT_FALSE(part.position.is_known);
  ASSERT_EQ(part.steps.size(), 2u);
  EXPECT_EQ(part.steps[0].step, 1);
  EXPECT_EQ(part.steps[0][StepPart::kE2e], 1000);
  EXPECT_EQ(part.steps[0][StepPart::kComputing], 300);
  EXPECT_EQ(part.steps[0][StepPart::kCommunication], 200);
  EXPECT_EQ(part.steps[1][StepPart::kComputing], 500);
  EXPECT_EQ(part.steps[0][StepPart::kAllocated], 700);
  EXPECT_EQ(part.steps[1][StepPart::kAllocated], 700) << "held when the step began";
  EXPECT_EQ(part.steps[1][StepPart::kReserved], 900);
  const SumRow* matmul = FindRow(part.rows, RowKind::kKernel, "MatMul1");
  ASSERT_NE(matmul, nullptr);
  EXPECT_EQ(matmul->total_ns, (std::vector<int64_t>{300, 400}));
  EXPECT_EQ(matmul->calls, (std::vector<int64_t>{1, 1}));
  ASSERT_NE(FindRow(part.rows, RowKind::kKernelType, "MatMulV2"), nullptr);
  const SumRow* reduce = FindRow(part.rows, RowKind::kCollective, "allReduce (group 1)");
  ASSERT_NE(reduce, nullptr);
  EXPECT_EQ(reduce->total_ns, (std::vector<int64_t>{200, 0}));
  EXPECT_EQ(FindRow(part.rows, RowKind::kKernel, "hcom_allReduce__586_0_1"), nullptr);
  const SumRow* mm = FindRow(part.rows, RowKind::kOperator, "aten::mm");
  ASSERT_NE(mm, nullptr);
  EXPECT_EQ(mm->total_ns, (std::vector<int64_t>{30, 0})) << "without the operator inside";
}

TEST(SummariseRank, NamesGroupsAndPlacesByMetadata) {
  viewer::TestRank rank(1);
  rank.Step(1, 0, 1000);
  rank.Comm("hcom_allGather__771_0_1", 100, 300, 256, "group_a_name");
  const auto meta = [&](const char* name, const char* value) {
    rank.store.meta.Append({.name = rank.Text(name), .value = rank.Text(value)});
  };
  meta("parallel_group_info",
       R"({"group_a_name": {"group_name": "tp", "group_rank": 1, "global_ranks": [0, 1]}})");
  meta("distributed_args",
       R"({"tensor_model_parallel_size": 2, "pipeline_model_parallel_size": 2, "world_size": 4})");
  const RankPart part = SummariseRank(RankView(rank.store), cluster::DescribeRank(rank.store));
  EXPECT_NE(FindRow(part.rows, RowKind::kCollective, "allGather (tp)"), nullptr);
  EXPECT_NE(FindRow(part.rows, RowKind::kGroup, "tp (ranks 0-1)"), nullptr);
  ASSERT_TRUE(part.position.is_known);
  EXPECT_EQ(part.position.ToText(), "tp1 pp0 dp0");
}

TEST(SummariseRank, ARunWithoutStepsIsOneStep) {
  viewer::TestRank rank;
  rank.Task("MatMul1", "MatMulV2", 100, 400);
  const RankPart part = SummariseRank(RankView(rank.store), cluster::DescribeRank(rank.store));
  ASSERT_EQ(part.steps.size(), 1u);
  EXPECT_EQ(part.steps[0].step, store::kNone);
  EXPECT_EQ(part.steps[0][StepPart::kComputing], 300);
  ASSERT_NE(FindRow(part.rows, RowKind::kKernel, "MatMul1"), nullptr);
  const viewer::TestRank empty;
  EXPECT_TRUE(
      SummariseRank(RankView(empty.store), cluster::DescribeRank(empty.store)).steps.empty());
}

}  // namespace
}  // namespace steplens::analysis::runs
