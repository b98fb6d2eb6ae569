#include "analysis/cluster/recipe_tables.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "analysis/cluster/registry.h"
#include "analysis/still_wanted.h"

namespace steplens::analysis {

Result<cluster::Answer> AskRecipe(std::string_view name, const cluster::Options& options,
                                  const store::Job& job) {
  const cluster::RecipeSpec* spec = cluster::FindRecipe(name);
  if (spec == nullptr) {
    return Error{ErrorCode::kInternal, fmt::format("there is no recipe '{}'", name)};
  }
  SL_ASSIGN_OR_RETURN(const std::unique_ptr<cluster::Recipe> recipe, spec->make(options));
  for (const store::TraceStore& rank : job.ranks) {
    SL_RETURN_IF_ERROR(StillWanted());
    const cluster::RankFacts facts = cluster::DescribeRank(rank);
    if (!recipe->Add(facts, recipe->Map(rank, facts))) {
      return Error{ErrorCode::kInternal, fmt::format("'{}' cannot read its own part", name)};
    }
  }
  recipe->SetTimelines(cluster::TimelinesInMemory(job.ranks));
  return recipe->Finish(cluster::Form::kTables);
}

const table::Table* FindTable(const cluster::Answer& answer, std::string_view name) {
  for (const cluster::ResultTable& result : answer.tables) {
    if (result.table.name() == name) return &result.table;
  }
  return nullptr;
}

std::string_view TextCell(const table::Table& table, std::string_view column, size_t row) {
  const table::Column* found = table.Find(column);
  return found != nullptr && row < found->texts.size() ? std::string_view(found->texts[row])
                                                       : std::string_view();
}

double NumberCell(const table::Table& table, std::string_view column, size_t row) {
  const table::Column* found = table.Find(column);
  if (found != nullptr && row < found->doubles.size()) return found->doubles[row];
  if (found != nullptr && row < found->ints.size() && found->ints[row] != table::kNull) {
    return static_cast<double>(found->ints[row]);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace steplens::analysis
