#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/question/question.h"
#include "base/status.h"
#include "store/trace_store.h"
#include "table/table.h"

namespace steplens::query {

// An argument of an analysis. It is a hidden column of the table, arg_<name>: given by
// WHERE arg_rank = 3, by a join, or in order, as in overview_steps(3). Without it the default
// counts.
inline constexpr std::string_view kArgPrefix = "arg_";
struct TableArg {
  std::string name;
  std::string_view type;  // INTEGER, REAL, TEXT
  std::string doc;
};

// An analysis as an SQL table. Computed when a query first names it, then kept. Its columns are
// words in lower case with the unit at their end: "Host Self Duration(us)", a time, is
// host_self_duration_ns in integer nanoseconds, "Ratio(%)" is ratio_percent.
struct AnalysisTable {
  std::string name;
  std::function<table::Table(const store::Job&)> compute;
  std::string doc = "";            // one sentence
  bool has_fixed_columns = false;  // an empty job gives them, without the work
  std::vector<TableArg> args{};
  // Of analyses with arguments, beside `compute`, which gives the columns alone.
  std::function<Result<table::Table>(const store::Job&, const analysis::QuestionArgs&)> ask{};
};

}  // namespace steplens::query
