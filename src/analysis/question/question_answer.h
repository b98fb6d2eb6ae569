#pragma once

#include <string>
#include <vector>

#include "analysis/text/message.h"
#include "table/table.h"

namespace steplens::analysis {

// What a question gives.
struct QuestionAnswer {
  std::vector<table::Table> tables;  // names as in docs/metrics.md; never none
  std::string definition;            // key of the definition: "insight.overall_metrics"
  std::string query;                 // SQL that gives the rows behind it; empty if there is none
  std::vector<Message> warnings;     // what the data lacks for it, one sentence each
};

}  // namespace steplens::analysis
