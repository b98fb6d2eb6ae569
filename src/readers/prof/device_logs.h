#pragma once

#include <cstdint>
#include <vector>

#include "readers/prof/device_records.h"

namespace steplens::readers::prof {

// A task or sub-task begins or ends.
struct TaskLog {
  uint64_t time = 0;
  uint32_t stream = 0;
  uint16_t task = 0;
  uint16_t context = kNoContext;
  uint32_t batch = 0;
  uint8_t type = 0;
  bool is_sub_task = false;
};

struct TaskLogs {
  std::vector<TaskLog> starts;
  std::vector<TaskLog> ends;
};

TaskLogs ReadStarsLogs(const Side& device, bool has_wide_streams, const ReadOptions& options,
                       store::IssueLog& issues);
// Chips 15 and 16: `stream` is the high half of the id until NameStreams.
TaskLogs ReadStars950Logs(const Side& device, const ReadOptions& options, store::IssueLog& issues);
TaskLogs ReadHwtsLogs(const Side& device, const ReadOptions& options, store::IssueLog& issues);

// Starts and ends of one task in the order of time: the i-th goes with the i-th where there are as
// many of both, else each end with the last start before it. What is left over is counted. By key,
// then by begin.
std::vector<DeviceTask> PairLogs(TaskLogs logs, const FlipsByStream& flips,
                                 store::IssueLog& issues);

}  // namespace steplens::readers::prof
