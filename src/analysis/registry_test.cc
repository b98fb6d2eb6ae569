#include "analysis/registry.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace steplens::analysis {
namespace {

TEST(Analyses, HaveDistinctNamesAndTakeAnEmptyJob) {
  std::set<std::string> names;
  for (const AnalysisEntry& entry : Analyses()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_FALSE(entry.description.empty()) << entry.name;
    const table::Table table = entry.compute(store::Job{});
    EXPECT_EQ(table.rows(), 0u) << entry.name;
    ASSERT_FALSE(table.columns().empty()) << entry.name;
    EXPECT_TRUE(table.Find("Rank") != nullptr || table.Find("rank") != nullptr) << entry.name;
  }
}

TEST(Analyses, HaveTheColumnsOfAnEmptyJobIfTheySaySo) {
  store::Job job;
  for (const std::string source : {"ascend_pt", "kineto"}) {
    store::TraceStore& rank = job.ranks.emplace_back();
    rank.info.rank = static_cast<int64_t>(job.ranks.size()) - 1;
    rank.info.source = source;
    rank.kernels.Append({.device = rank.info.rank,
                         .name = rank.strings.Intern("k"),
                         .core = rank.strings.Intern(source == "kineto" ? "kernel" : "AI_CORE"),
                         .begin_ns = 1,
                         .dur_ns = 2});
  }
  const auto headers = [](const table::Table& table) {
    std::vector<std::string> out;
    for (const table::Column& column : table.columns()) out.push_back(column.name);
    return out;
  };
  for (const AnalysisEntry& entry : Analyses()) {
    if (!entry.has_fixed_columns) continue;
    EXPECT_EQ(headers(entry.compute(job)), headers(entry.compute(store::Job{}))) << entry.name;
  }
}

}  // namespace
}  // namespace steplens::analysis
