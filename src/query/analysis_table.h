#pragma once

#include <functional>
#include <string>

#include "store/trace_store.h"
#include "table/table.h"

namespace steplens::query {

// An analysis as an SQL table. Computed when a query first names it, then kept. Its columns are
// words in lower case with the unit at their end: "Host Self Duration(us)", a time, is
// host_self_duration_ns in integer nanoseconds, "Ratio(%)" is ratio_percent.
struct AnalysisTable {
  std::string name;
  std::function<table::Table(const store::Job&)> compute;
  std::string doc = "";            // one sentence
  bool has_fixed_columns = false;  // an empty job gives them, without the work
};

}  // namespace steplens::query
