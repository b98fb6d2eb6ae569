#pragma once

#include <gtest/gtest.h>

#include "analysis/viewer/test_rank.h"

namespace steplens::analysis::viewer {

// One table of a metric; a table "none" without rows, and a failed test, if it does not have it.
inline table::Table TableOf(const store::Job& job, const char* metric, std::string_view name,
                            const MetricArgs& args = {}) {
  const Result<MetricAnswer> answer = ComputeMetric(metric, args, job);
  EXPECT_TRUE(answer.ok()) << (answer.ok() ? "" : answer.error().message);
  if (answer.ok()) {
    for (const table::Table& table : answer->tables) {
      if (table.name() == name) return table;
    }
  }
  return table::Table("none");
}
// A number of a table; -1 if it is not there.
inline double Cell(const table::Table& table, const char* column, size_t row) {
  const table::Column* found = table.Find(column);
  return found == nullptr || row >= found->doubles.size() ? -1 : found->doubles[row];
}

}  // namespace steplens::analysis::viewer
