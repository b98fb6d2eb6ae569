#pragma once

#include <string>
#include <string_view>

#include "analysis/cluster/answer.h"
#include "analysis/cluster/options.h"
#include "base/status.h"
#include "store/trace_store.h"
#include "table/table.h"

namespace steplens::analysis {

// What a recipe of the cluster analysis answers about the job, as tables: the viewer shows the same
// numbers because it asks the same function. kInternal if there is no such recipe.
Result<cluster::Answer> AskRecipe(std::string_view name, const cluster::Options& options,
                                  const store::Job& job);

// A table of an answer; nullptr without it.
const table::Table* FindTable(const cluster::Answer& answer, std::string_view name);

// Cells of a column; an empty text or NaN where there is no such column.
std::string_view TextCell(const table::Table& table, std::string_view column, size_t row);
double NumberCell(const table::Table& table, std::string_view column, size_t row);

}  // namespace steplens::analysis
