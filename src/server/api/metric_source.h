#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/question/question.h"
#include "base/status.h"
#include "server/api/context.h"
#include "store/trace_store.h"
#include "table/table.h"

namespace steplens::server {

// A named result as the pages show it.
struct NamedResult {
  std::vector<table::Table> tables{};
  std::string definition{};
  std::string query{};
  std::vector<analysis::Message> warnings{};
};

// The arguments of a metric in the request ("args"). Times in them are shown times of the rank they
// name. "tracks" are ids of lanes; the metric gets the rank of the first one and that rank's rows
// of `tracks`.
Result<analysis::QuestionArgs> MetricArgsParam(const Ask& ask);
// Asks a question of analysis/question with them.
Result<NamedResult> ComputeNamed(const Ask& ask, std::string_view name, const store::Job& job);

}  // namespace steplens::server
