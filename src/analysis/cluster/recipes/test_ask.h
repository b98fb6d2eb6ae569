#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/cluster/recipe.h"
#include "analysis/testing/store_builder.h"

namespace steplens::analysis::cluster {

// A capture for tests of recipes: one thread of PyTorch, one of CANN, one stream.
struct TestRank : StoreBuilder {
  explicit TestRank(int64_t rank) {
    store.info.rank = rank;
    host = ThreadOf("Python", "Thread 1");
    cann = ThreadOf("CANN", "Thread 1");
    stream = ThreadOf("Ascend Hardware", "Stream 2");
  }

  // A communication operator with its launch, one microsecond before it.
  void Comm(std::string_view name, std::string_view group, int64_t begin_ns, int64_t end_ns) {
    const int64_t connection = next_connection++;
    store.comm_ops.Append({.name = Text(name),
                           .op_type = Text(name.substr(0, name.find("__") + 1)),
                           .group_name = Text(group),
                           .begin_ns = begin_ns,
                           .dur_ns = end_ns - begin_ns,
                           .data_type = Text("FP32"),
                           .count = 256,
                           .correlation = connection});
    Slice(cann, begin_ns - 1000, begin_ns - 500, "Node@launch", "", connection);
  }
  void Meta(std::string_view name, std::string_view value) {
    store.meta.Append({Text(name), Text(value)});
  }

  store::TrackId host, cann, stream;
  int64_t next_connection = 1;
};

// Says that a group has ranks 0 to size - 1.
inline void NameGroup(TestRank& rank, const std::string& id, int64_t size) {
  std::string ranks;
  for (int64_t i = 0; i < size; ++i) ranks += (i == 0 ? "" : ",") + std::to_string(i);
  rank.Meta("parallel_group_info",
            R"({")" + id + R"(":{"group_name":"dp","global_ranks":[)" + ranks + "]}}");
}

// What a recipe answers about the ranks.
inline Result<Answer> Ask(const RecipeSpec& spec, const std::vector<const TestRank*>& ranks,
                          const Options& options = {}) {
  Result<std::unique_ptr<Recipe>> recipe = spec.make(options);
  if (!recipe.ok()) return recipe.error();
  for (const TestRank* rank : ranks) {
    const RankFacts facts = DescribeRank(rank->store);
    EXPECT_TRUE((*recipe)->Add(facts, (*recipe)->Map(rank->store, facts)));
  }
  return (*recipe)->Finish(Form::kTables);
}

// The rows of a table as text, cells separated by '|'.
inline std::vector<std::string> RowsOf(const table::Table& table) {
  std::vector<std::string> rows(table.rows());
  for (const table::Column& column : table.columns()) {
    for (size_t i = 0; i < rows.size(); ++i)
      rows[i] += (rows[i].empty() ? "" : "|") + table::CellText(column, i);
  }
  return rows;
}

using Rows = std::vector<std::string>;

}  // namespace steplens::analysis::cluster
