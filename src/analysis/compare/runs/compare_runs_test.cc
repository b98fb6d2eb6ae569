#include "analysis/compare/runs/compare_runs.h"

#include <gtest/gtest.h>

#include "analysis/compare/runs/test_runs.h"

namespace steplens::analysis::runs {
namespace {

const Difference* FindPart(const RunComparison& comparison, std::string_view name) {
  for (const Difference& part : comparison.parts) {
    if (part.name == name) return &part;
  }
  return nullptr;
}

TEST(PairRanks, GoesByPositionThenByNumberThenByRole) {
  const TestJob job{.ranks = 4, .knows_positions = true, .pp_size = 2};
  RunSummary a = job.Run();
  RunSummary b = job.Run();
  EXPECT_EQ(PairRanks(a, b).by, PairedBy::kPosition);
  // The same places, renumbered.
  std::swap(b.ranks[0].position, b.ranks[3].position);
  const Pairing moved = PairRanks(a, b);
  EXPECT_EQ(moved.by, PairedBy::kPosition);
  EXPECT_EQ(moved.pairs[0].b, (std::vector<size_t>{3}));
  EXPECT_EQ(moved.pairs[0].name, "rank 0 / 3 (tp0 pp0 dp0)");
  for (RankRun& rank : b.ranks) rank.position = {};
  const Pairing numbered = PairRanks(a, b);
  EXPECT_EQ(numbered.by, PairedBy::kNumber);
  EXPECT_EQ(numbered.pairs[2].name, "rank 2");
  const RunSummary larger = TestJob{.ranks = 8, .knows_positions = true, .pp_size = 2}.Run();
  const Pairing roles = PairRanks(a, larger);
  EXPECT_EQ(roles.by, PairedBy::kRole);
  ASSERT_EQ(roles.pairs.size(), 2u);
  EXPECT_EQ(roles.pairs[1].name, "stage 1");
  EXPECT_EQ(roles.pairs[1].a.size(), 2u);
  EXPECT_EQ(roles.pairs[1].b.size(), 4u);
}

TEST(PairRanks, NamesRanksWithoutACounterpart) {
  RunSummary a = TestJob{.ranks = 3}.Run();
  RunSummary b = TestJob{.ranks = 3}.Run();
  b.ranks[2].rank = 7;
  const Pairing pairing = PairRanks(a, b);
  EXPECT_EQ(pairing.pairs.size(), 2u);
  EXPECT_EQ(pairing.only_a, (std::vector<int64_t>{2}));
  EXPECT_EQ(pairing.only_b, (std::vector<int64_t>{7}));
}

TEST(CompareRuns, UnchangedRunsDifferWithinNoise) {
  const RunComparison comparison = CompareRuns(TestJob{.seed = 1}.Run(), TestJob{.seed = 2}.Run());
  for (const auto* list : {&comparison.parts, &comparison.rows, &comparison.ranks}) {
    for (const Difference& one : *list) EXPECT_EQ(one.verdict, Verdict::kWithinNoise) << one.name;
  }
  EXPECT_TRUE(comparison.notes.empty());
}

TEST(CompareRuns, ASlowerKernelIsFirst) {
  TestJob slower{.seed = 2};
  slower.kernels[1].second *= 1.05;
  const RunComparison comparison = CompareRuns(TestJob{.seed = 1}.Run(), slower.Run());
  ASSERT_FALSE(comparison.rows.empty());
  const Difference& first = comparison.rows.front();
  EXPECT_EQ(first.name, "Conv2D");
  EXPECT_EQ(first.verdict, Verdict::kRegression);
  EXPECT_NEAR(first.relative(), 0.05, 0.01);
  EXPECT_NEAR(first.contribution_ns, 1e6, 2e5);
  EXPECT_EQ(FindPart(comparison, "computing")->verdict, Verdict::kRegression);
  EXPECT_EQ(FindPart(comparison, "free")->verdict, Verdict::kWithinNoise);
}

TEST(CompareRuns, AnAddedOperatorIsFirst) {
  TestJob added{.seed = 2};
  added.operators.emplace_back("aten::copy_", 2e6);
  const RunComparison comparison = CompareRuns(TestJob{.seed = 1}.Run(), added.Run());
  const Difference& first = comparison.rows.front();
  EXPECT_EQ(first.name, "aten::copy_");
  EXPECT_TRUE(first.is_only_b);
  EXPECT_EQ(first.verdict, Verdict::kRegression);
  EXPECT_EQ(first.b_calls, 10);
}

TEST(CompareRuns, ASlowRankIsFirst) {
  TestJob slow{.ranks = 8, .seed = 2, .slow_rank = 1.05};
  const RunComparison comparison = CompareRuns(TestJob{.ranks = 8, .seed = 1}.Run(), slow.Run());
  ASSERT_EQ(comparison.ranks.size(), 8u);
  EXPECT_EQ(comparison.ranks.front().name, "rank 7");
  EXPECT_EQ(comparison.ranks.front().verdict, Verdict::kRegression);
  EXPECT_EQ(comparison.ranks[1].verdict, Verdict::kWithinNoise);
}

TEST(CompareRuns, MoreMemoryAndAnotherBucketSizeAreSeen) {
  TestJob changed{.seed = 2, .allreduce_ns = 11e6, .allreduce_calls = 8, .memory_bytes = 8.24e9};
  const RunComparison comparison = CompareRuns(TestJob{.seed = 1}.Run(), changed.Run());
  EXPECT_EQ(FindPart(comparison, "memory")->verdict, Verdict::kRegression);
  EXPECT_NEAR(FindPart(comparison, "memory")->relative(), 0.03, 0.002);
  const Difference& first = comparison.rows.front();
  EXPECT_EQ(first.name, "allReduce (dp)");
  EXPECT_TRUE(first.calls_changed());
  EXPECT_EQ(first.a_calls, 4);
  EXPECT_EQ(first.b_calls, 8);
}

TEST(CompareRuns, OtherNumbersOfCallsComeBeforeNoise) {
  // As long in all, so that time says nothing; the noise of MatMul is larger than any bucket.
  TestJob changed{.seed = 2, .noise = 0.1, .allreduce_calls = 2};
  const RunComparison comparison =
      CompareRuns(TestJob{.seed = 1, .noise = 0.1}.Run(), changed.Run());
  EXPECT_EQ(comparison.rows.front().name, "allReduce (dp)");
  EXPECT_EQ(comparison.rows.front().verdict, Verdict::kWithinNoise);
  EXPECT_TRUE(comparison.rows.front().calls_changed());
}

TEST(CompareRuns, WarmUpOfTheFirstStepDoesNotMatter) {
  const RunComparison comparison =
      CompareRuns(TestJob{.seed = 1}.Run(), TestJob{.seed = 2, .first_step = 20}.Run());
  EXPECT_EQ(FindPart(comparison, "e2e")->verdict, Verdict::kWithinNoise);
}

TEST(CompareRuns, OneStepIsNotEnough) {
  TestJob slower{.steps = 1, .seed = 2, .free_ns = 50e6};
  const RunComparison comparison = CompareRuns(TestJob{.steps = 1, .seed = 1}.Run(), slower.Run());
  EXPECT_EQ(FindPart(comparison, "e2e")->verdict, Verdict::kTooFewSteps);
  ASSERT_FALSE(comparison.notes.empty());
  EXPECT_EQ(comparison.notes.front(), "not enough steps to tell noise: 1 against 1");
}

TEST(CompareRuns, WhatOneRunWasCapturedWithoutIsNamed) {
  const RunSummary a = TestJob{.seed = 1}.Run();
  const RunSummary b = TestJob{.seed = 2, .operators = {}}.Run();
  const RunComparison comparison = CompareRuns(a, b);
  EXPECT_EQ(comparison.notes,
            (std::vector<std::string>{"the new run has no operator rows; they are not compared"}));
}

TEST(CompareRuns, ANameThatMayBeAmongTheOthersIsNotCalledNew) {
  RunSummary a = TestJob{.seed = 1}.Run();
  const RunSummary b = TestJob{.seed = 2}.Run();
  std::erase_if(a.rows, [](const SumRow& row) { return row.name == "Add"; });
  EXPECT_TRUE(CompareRuns(a, b).rows.front().is_only_b);
  a.cut_ns[static_cast<size_t>(RowKind::kKernel)] = 6'000'000;
  for (const Difference& row : CompareRuns(a, b).rows) EXPECT_NE(row.name, "Add");
  // More than could have been cut off is a change from there, at least.
  a.cut_ns[static_cast<size_t>(RowKind::kKernel)] = 2'000'000;
  const RunComparison comparison = CompareRuns(a, b);
  EXPECT_EQ(comparison.rows.front().name, "Add");
  EXPECT_FALSE(comparison.rows.front().is_only_b);
  EXPECT_NEAR(comparison.rows.front().shift.change, 3e6, 1e5);
}

}  // namespace
}  // namespace steplens::analysis::runs
