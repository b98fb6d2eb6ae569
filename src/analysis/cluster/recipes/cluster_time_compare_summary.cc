#include "analysis/cluster/recipes/cluster_time_compare_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>

#include "analysis/cluster/recipes/cluster_time_columns.h"
#include "analysis/cluster/recipes/recipes.h"

namespace steplens::analysis::cluster {
namespace {

using table::CellType;

using Times = std::array<double, std::size(kTimeColumns)>;
using Rows = std::map<std::pair<int64_t, int64_t>, Times>;  // by rank and step

Result<const table::Column*> FindColumn(const table::Table& table, const char* name,
                                        bool is_integer, const char* which) {
  const table::Column* column = table.Find(name);
  if (column != nullptr &&
      (column->type == CellType::kInt || (column->type == CellType::kDouble && !is_integer))) {
    return column;
  }
  return Error{ErrorCode::kCorruptData,
               fmt::format("the {} ClusterTimeSummary has no column '{}' of numbers", which, name)};
}

// Times that happen to be whole may be stored as integers.
double NumberAt(const table::Column& column, size_t row) {
  if (column.type == CellType::kDouble) return column.doubles[row];
  return column.ints[row] == table::kNull ? std::numeric_limits<double>::quiet_NaN()
                                          : static_cast<double>(column.ints[row]);
}

Result<Rows> ReadRows(const table::Table& table, const Options& options, const char* which) {
  SL_ASSIGN_OR_RETURN(const table::Column* ranks, FindColumn(table, "rank", true, which));
  SL_ASSIGN_OR_RETURN(const table::Column* steps, FindColumn(table, "step", true, which));
  std::vector<const table::Column*> times;
  for (const TimeColumn& name : kTimeColumns) {
    SL_ASSIGN_OR_RETURN(const table::Column* column, FindColumn(table, name.name, false, which));
    times.push_back(column);
  }
  Rows rows;
  std::set<int64_t> all_steps;
  for (size_t row = 0; row < table.rows(); ++row) {
    all_steps.insert(steps->ints[row]);
    if (options.step && steps->ints[row] != *options.step) continue;
    Times& values = rows[{ranks->ints[row], steps->ints[row]}];
    for (size_t i = 0; i < times.size(); ++i) values[i] = NumberAt(*times[i], row);
  }
  if (options.step && rows.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--step_id: the {} ClusterTimeSummary has no step {}; steps are {}",
                             which, *options.step, fmt::join(all_steps, ", "))};
  }
  return rows;
}

table::Table EmptyComparison() {
  table::Table table("ClusterTimeCompareSummary");
  table.AddColumn("rank", CellType::kInt);
  table.AddColumn("step", CellType::kInt);
  for (const TimeColumn& column : kTimeColumns) {
    for (const char* suffix : {"", "Base", "Diff"})
      table.AddColumn(fmt::format("{}{}", column.name, suffix), CellType::kDouble);
  }
  return table;
}

bool HasUnknown(const Times& times) {
  return std::any_of(times.begin(), times.end(), [](double value) { return std::isnan(value); });
}

}  // namespace

Result<Answer> CompareTimeSummaries(const table::Table& current, const table::Table& base,
                                    const Options& options) {
  SL_ASSIGN_OR_RETURN(const Rows rows, ReadRows(current, options, "current"));
  SL_ASSIGN_OR_RETURN(const Rows base_rows, ReadRows(base, options, "base"));
  table::Table table = EmptyComparison();
  int64_t left_out = 0;
  for (const auto& [key, times] : rows) {
    const auto other = base_rows.find(key);
    if (other == base_rows.end() ||
        (options.compat && (HasUnknown(times) || HasUnknown(other->second)))) {
      ++left_out;
      continue;
    }
    table.AppendInt(0, key.first);
    table.AppendInt(1, key.second);
    for (size_t i = 0; i < times.size(); ++i) {
      table.AppendDouble(2 + 3 * i, times[i]);
      table.AppendDouble(3 + 3 * i, other->second[i]);
      table.AppendDouble(4 + 3 * i, times[i] - other->second[i]);
    }
  }
  Answer answer;
  answer.tables.push_back({std::move(table), "cluster_time_compare_summary.csv"});
  if (left_out > 0) {
    answer.notes.push_back(
        fmt::format("{} of {} rows have no counterpart and are left out", left_out, rows.size()));
  }
  answer.suggestion = Message{"suggestion.cluster_time_compare_summary"};
  return answer;
}

RecipeSpec ClusterTimeCompareSummaryRecipe() {
  RecipeSpec spec;
  spec.name = kTimeCompareName;
  spec.folder = "ClusterTimeCompareSummary";
  spec.summary = "Where the time of each step went, against another run";
  spec.options = {"bp"};
  spec.needs_another_run = true;
  // It reads no ranks, so it cannot share a pass over them.
  spec.make = [](const Options&) -> Result<std::unique_ptr<Recipe>> {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--mode: {} compares results of earlier runs; ask for it alone",
                             kTimeCompareName)};
  };
  return spec;
}

}  // namespace steplens::analysis::cluster
