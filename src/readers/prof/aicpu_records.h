#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "readers/prof/collectives.h"
#include "readers/prof/device_records.h"
#include "readers/prof/flips.h"
#include "readers/prof/prof_files.h"
#include "readers/read_options.h"

// What AI CPU of a device recorded. Times are values of the device's counter.
namespace steplens::readers::prof {

// A kernel of AI CPU that ran.
struct AicpuRun {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t submit = 0;
  uint64_t after = 0;
  uint64_t compute_us = 0;
  uint64_t copy_us = 0;
  uint64_t dispatch_us = 0;
  uint32_t stream = 0;
  uint32_t task = 0;
};

// A collective that a kernel carries out.
struct AicpuOp {
  uint64_t time = 0;
  uint64_t algorithm = 0;
  uint64_t count = 0;
  uint64_t group = 0;
  uint32_t stream = 0;
  uint32_t data_type = 0;
};

// The first or last task of such a collective on its main stream.
struct AicpuFlag {
  uint64_t time = 0;
  uint32_t kernel_stream = 0;
  uint32_t stream = 0;
  uint32_t task = 0;
  bool is_first = false;
};

// A task that a kernel gave to another stream.
struct AicpuTask {
  uint64_t time = 0;
  CommTaskFacts facts;
  uint32_t stream = 0;
  uint32_t task = 0;
  uint32_t batch = 0;
};

// A turn of a collective that is fused with an operator: parts that follow each other.
struct AicpuTurn {
  std::array<uint64_t, 7> times = {};  // begin of each part, then the end; 0 = not known
  uint32_t parts = 0;
  uint32_t stream = 0;
  uint32_t task = 0;
  uint32_t number = 0;
  bool is_compute = false;
};

// Actions of the data queue.
struct QueueAction {
  uint64_t time = 0;
  std::string action;
  std::string source;
  uint64_t size = 0;
};

struct QueueWait {
  uint64_t queue_size = 0;
  uint64_t begin = 0;
  uint64_t end = 0;
};

struct AicpuRecords {
  std::vector<AicpuRun> runs;
  std::vector<AicpuOp> ops;
  std::vector<AicpuFlag> flags;
  std::vector<AicpuTask> tasks;
  std::vector<QueueAction> actions;
  std::vector<QueueWait> waits;
  std::vector<AicpuTurn> turns;
};

AicpuRecords ReadAicpuRecords(const Side& device, bool has_wide_streams, const ReadOptions& options,
                              store::IssueLog& issues);

}  // namespace steplens::readers::prof
