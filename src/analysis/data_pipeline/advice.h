#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/data_pipeline/op_use.h"

namespace steplens::analysis {

// Which operation of a data pipeline holds the others up, and what to do about it: sentences. The
// last two lists are empty where nothing does.
struct PipelineAdvice {
  std::vector<std::string> cpu_details;
  std::vector<std::string> queue_details;
  std::vector<std::string> bottleneck_warning;
  std::vector<std::string> bottleneck_suggestion;
};
// `ops` by id; every child is among them.
PipelineAdvice AdviseOnPipeline(std::span<const OpUse> ops);

}  // namespace steplens::analysis
