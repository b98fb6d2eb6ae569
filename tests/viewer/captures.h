#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "analysis/viewer/metric.h"
#include "open/open.h"

namespace steplens::viewer_test {

// The folder of shared data: $STEPLENS_SHARED, else beside the project.
inline std::string SharedDir() {
  const char* given = std::getenv("STEPLENS_SHARED");
  return given != nullptr ? given : STEPLENS_SHARED_DIR;
}

// A capture below the shared data; nothing if it is not on this machine or cannot be read.
inline std::optional<store::Job> OpenShared(const std::string& path) {
  const std::string full = SharedDir() + "/" + path;
  if (!std::filesystem::exists(full)) return std::nullopt;
  Result<store::Job> job = opening::OpenJob({full}, {.use_cache = false});
  if (!job.ok()) return std::nullopt;
  return *std::move(job);
}

inline analysis::viewer::MetricArgs Args(
    std::initializer_list<std::pair<const std::string, analysis::viewer::MetricArgs::Value>>
        values) {
  analysis::viewer::MetricArgs args;
  for (const auto& [name, value] : values) args.values.emplace(name, value);
  return args;
}

// A table of an answer; an empty one without it.
inline const table::Table& Find(const analysis::viewer::MetricAnswer& answer,
                                std::string_view name) {
  static const table::Table none{"none"};
  for (const table::Table& table : answer.tables) {
    if (table.name() == name) return table;
  }
  return none;
}

// A cell as a number, whatever its type; times as microseconds.
inline double Number(const table::Table& table, std::string_view column, size_t row) {
  const table::Column* found = table.Find(column);
  if (found == nullptr || row >= found->size()) return -1e300;
  if (found->type == table::CellType::kDouble) return found->doubles[row];
  const auto value = static_cast<double>(found->ints[row]);
  return found->type == table::CellType::kTimeUs ? value / 1000 : value;
}
inline std::string Text(const table::Table& table, std::string_view column, size_t row) {
  const table::Column* found = table.Find(column);
  return found == nullptr || row >= found->size() ? "(no cell)" : table::CellText(*found, row);
}

}  // namespace steplens::viewer_test
