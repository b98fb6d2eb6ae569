#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "store/trace_store.h"
#include "table/table.h"

namespace steplens::server {

// A named result as the pages show it.
struct NamedResult {
  std::vector<table::Table> tables;
  std::string definition;
  std::string query;
  std::vector<std::string> warnings;
};

// Computes a metric of analysis/viewer. `args` is the JSON object of the request, or nothing. Times
// in it count from `origin_ns`.
Result<NamedResult> ComputeNamed(std::string_view name, JsonValue args, const store::Job& job,
                                 int64_t origin_ns);

}  // namespace steplens::server
