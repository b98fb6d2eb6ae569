#include <random>
#include <set>

#include "analysis/verify/test_store.h"

namespace steplens::analysis::verify {
namespace {

TEST(VerifyRank, KeepsTheFirstRowsOnly) {
  TestStore s;
  for (int i = 0; i < 9; ++i) s.Kernel("a", "a", "AI_CORE", 100 - i, 100 - i + 1);
  VerifyOptions options;
  options.max_rows = 2;
  const CheckResult result = s.Run("kernels.order", options);
  EXPECT_EQ(result.detail, "8 of 9 kernels");
  EXPECT_EQ(result.offending.size(), 2u);
}

TEST(VerifyRank, NamesEachRuleOnceAndAppliesNoneToAnEmptyStore) {
  std::set<std::string> ids;
  for (const CheckResult& result : VerifyRank({}, {})) {
    EXPECT_TRUE(ids.insert(result.id).second) << result.id;
    EXPECT_FALSE(result.title.empty()) << result.id;
    EXPECT_FALSE(result.detail.empty()) << result.id;
    if (result.id != "import.issues") {
      EXPECT_EQ(result.state, CheckState::kNotApplicable) << result.id;
    }
  }
}

TEST(VerifyTable, HasARowPerRankAndRule) {
  store::Job job;
  job.ranks.resize(2);
  job.ranks[1].info.rank = 1;
  job.ranks[1].kernels.Append({.begin_ns = 2, .dur_ns = -5});
  const table::Table table = VerifyTable(job, {});
  const size_t rules = VerifyJob(job, {}).front().size();
  ASSERT_EQ(table.rows(), 2 * rules);
  EXPECT_EQ(table.columns()[0].ints.front(), 0);
  EXPECT_EQ(table.columns()[0].ints.back(), 1);
  size_t row = rules;
  while (table.columns()[1].texts[row] != "trace.durations") ++row;
  EXPECT_EQ(table.columns()[2].texts[row], "broken");
  EXPECT_EQ(table.columns()[4].texts[row], "1 of 1 durations; kernels row 1 () lasts -0.005 us");
}

// Damaged files give any numbers, and ids of tracks that do not exist.
template <typename Table>
void FillWithNoise(Table& table, std::mt19937_64& random, StringPool& strings) {
  const size_t rows = 1 + random() % 20;
  table.ForEachColumn([&](std::string_view, std::string_view, auto& column) {
    using Value = typename std::decay_t<decltype(column)>::Value;
    for (size_t i = 0; i < rows; ++i) {
      const uint64_t bits = random() >> (random() % 64);
      if constexpr (std::is_same_v<Value, StringId>) {
        column.Append(StringId{static_cast<uint32_t>(bits % strings.size())});
      } else {
        column.Append(static_cast<Value>(random() % 4 == 0 ? ~bits : bits));
      }
    }
  });
}

TEST(VerifyTable, SurvivesAnyNumbers) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 100; ++round) {
    TestStore s;
    for (const char* text : {"HCCL",
                             "CANN",
                             "Ascend Hardware",
                             "Overlap Analysis",
                             "Python",
                             "cpu_op",
                             "async_npu",
                             "HostToDevice",
                             "PTA",
                             "GE",
                             "PTA+GE",
                             "HCCS",
                             "AI_CORE",
                             "Group 0 Communication",
                             "Total Op Info",
                             "Node@launch",
                             "step1",
                             "allreduce-total",
                             "Computing",
                             "Free"}) {
      s.Text(text);
    }
    s.store.info.format = round % 2 == 0 ? store::Format::kText : store::Format::kDb;
    s.store.ForEachTable([&](auto& table) { FillWithNoise(table, random, s.store.strings); });
    for (size_t i = 0; i < s.store.tracks.size(); ++i) {
      if (random() % 2 == 0) s.store.tracks.parent.Set(i, store::TrackId{0});
    }
    EXPECT_GT(VerifyTable(s.Job(), {}).rows(), 0u);
  }
}

}  // namespace
}  // namespace steplens::analysis::verify
