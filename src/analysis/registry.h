#pragma once

#include <functional>
#include <string>
#include <vector>

#include "store/trace_store.h"
#include "table/table.h"

namespace steplens::analysis {

// An analysis that SQL can read as a table.
struct AnalysisEntry {
  std::string name;         // of the SQL table
  std::string description;  // one sentence
  std::function<table::Table(const store::Job&)> compute;
  bool has_fixed_columns = true;  // those of an empty job
};

// Every analysis that needs nothing but a job. A new one is one line in registry.cc.
std::vector<AnalysisEntry> Analyses();

}  // namespace steplens::analysis
