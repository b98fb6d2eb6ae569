#include "analysis/registry.h"

#include <gtest/gtest.h>

#include <set>

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

}  // namespace
}  // namespace steplens::analysis
