#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "query/database.h"
#include "table/csv.h"

namespace steplens::query {

inline std::unique_ptr<Database> Open(const store::Job& job,
                                      std::vector<AnalysisTable> analyses = {}) {
  auto opened = Database::Open(job, std::move(analyses));
  EXPECT_TRUE(opened.ok());
  return *std::move(opened);
}

// The result as csv, or the error message.
inline std::string Ask(Database& db, std::string_view sql) {
  const auto result = db.Run(sql);
  return result.ok() ? table::ToCsv(*result) : result.error().message;
}

inline std::string Ask(const store::Job& job, std::string_view sql) { return Ask(*Open(job), sql); }

inline store::TraceStore& AddRank(store::Job& job, int64_t rank) {
  store::TraceStore& store = job.ranks.emplace_back();
  store.info.rank = rank;
  return store;
}

}  // namespace steplens::query
