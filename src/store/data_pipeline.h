#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace steplens::store {

// The data pipeline of a training as MindSpore records it beside the timeline: a tree of operations
// with queues between them. Small, and in no table: nothing else refers to it.

struct PipelineOp {
  int64_t id = 0;
  std::string type;  // "BatchOp"
  int64_t workers = 0;
  std::vector<int64_t> children;  // ids, each one of an operation of the pipeline
  // Its output queue: capacity, and how full it was at each sample. No queue: nothing.
  struct Queue {
    int64_t length = 0;
    std::vector<int64_t> sizes;
  };
  std::optional<Queue> queue;
};

// Percent of one core, a value a sample.
struct PipelineCpu {
  int64_t op_id = 0;  // -1: the rest of the process
  std::vector<double> user_percent;
  std::vector<double> system_percent;
};

// A line of the file of batches.
struct PipelineBatch {
  int64_t kind = 0;   // 0 a time, 1 how full the connector was
  int64_t extra = 0;  // of a time: 0 pipeline, 1 push to the device, 2 batch; else the capacity
  int64_t batch = 0;
  double value = 0;  // ms, or how many waited
  double moment_ms = 0;
};

struct DataPipeline {
  std::string number;           // of rank or device, as in the names of its files
  std::string interval_ms;      // between samples, as written
  std::vector<PipelineOp> ops;  // by id; the first has id 0
  std::vector<PipelineCpu> cpu;
  std::vector<PipelineBatch> batches;
  bool has_device_queue = false;  // batches are those pushed to a device, else those of an iterator
  std::string problem;  // why cpu or batches are missing, one sentence; empty if they are there
};

}  // namespace steplens::store
