#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "analysis/cluster/recipe.h"
#include "analysis/testing/store_builder.h"

namespace steplens::analysis::cluster {

// What a recipe says of these ranks, numbered from 0.
inline Answer AskRecipe(const RecipeSpec& spec, const Options& options,
                        std::initializer_list<StoreBuilder*> ranks) {
  Result<std::unique_ptr<Recipe>> recipe = spec.make(options);
  EXPECT_TRUE(recipe.ok());
  int64_t number = 0;
  for (StoreBuilder* rank : ranks) {
    rank->store.info.rank = number++;
    const RankFacts facts = DescribeRank(rank->store);
    EXPECT_TRUE((*recipe)->Add(facts, (*recipe)->Map(rank->store, facts)));
  }
  Result<Answer> answer = (*recipe)->Finish(Form::kTables);
  EXPECT_TRUE(answer.ok());
  return std::move(*answer);
}

inline const table::Table& TableOf(const Answer& answer, std::string_view name) {
  for (const ResultTable& result : answer.tables) {
    if (result.table.name() == name) return result.table;
  }
  ADD_FAILURE() << "no table " << name;
  return answer.tables.front().table;
}

// A cell as csv has it; "no such cell" where there is none.
inline std::string Cell(const table::Table& table, std::string_view column, size_t row) {
  const table::Column* found = table.Find(column);
  return found == nullptr || row >= found->size() ? "no such cell" : table::CellText(*found, row);
}

}  // namespace steplens::analysis::cluster
