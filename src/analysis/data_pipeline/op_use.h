#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace steplens::analysis {

// How an operation of the data pipeline did. Percentages of two decimals; -1: not known.
struct OpUse {
  int64_t id = 0;
  std::string name;  // "Batch"
  int64_t workers = 0;
  std::vector<int64_t> children;
  int64_t parent = -1;
  double queue_average = -1;
  double queue_used_percent = -1;   // mean size of its output queue, of its length
  double queue_empty_percent = -1;  // samples at which the queue was empty
  double cpu_percent = -1;          // of one core, all workers
  double worker_cpu_percent = -1;   // of one core, a worker
};

}  // namespace steplens::analysis
