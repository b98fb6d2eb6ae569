#pragma once

#include <functional>
#include <string>

#include "store/trace_store.h"
#include "table/table.h"

namespace steplens::query {

// An analysis as an SQL table. Computed when a query first names it, then kept. Times are served as
// integer nanoseconds under table::SqlColumnName.
struct AnalysisTable {
  std::string name;
  std::function<table::Table(const store::Job&)> compute;
  std::string doc = "";  // one sentence
};

}  // namespace steplens::query
