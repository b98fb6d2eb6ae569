#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "store/data_pipeline.h"

namespace steplens::analysis {

// A row of minddata_pipeline_raw: an operation of the tree in which operations without an output
// queue are replaced by their children; operation 0 stays.
struct PipelineRow {
  const store::PipelineOp* op = nullptr;  // of the pipeline, which must outlive the row
  std::optional<int64_t> parent;
  std::vector<int64_t> children;
};
// Breadth first from operation 0.
std::vector<PipelineRow> PipelineRows(const store::DataPipeline& pipeline);

// Mean size of an output queue; 0 without samples.
double AverageSize(const store::PipelineOp::Queue& queue);

// One key of minddata_pipeline_summary with its list.
using SummaryValue = std::variant<int64_t, double, std::string, std::vector<int64_t>>;
struct SummaryLine {
  std::string key;
  std::vector<SummaryValue> values;
};
// The keys of the file in its order; -1 stands for what is not known. Batches 0 and 1 warm up and
// do not count. With CPU times of every operation there is advice, too.
std::vector<SummaryLine> SummarisePipeline(const store::DataPipeline& pipeline);

}  // namespace steplens::analysis
