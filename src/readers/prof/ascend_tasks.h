#pragma once

#include <cstdint>
#include <vector>

#include "readers/prof/device_records.h"
#include "readers/prof/host_tasks.h"
#include "readers/prof/prof_clock.h"

namespace steplens::readers::prof {

// A run of a task on the device, with what the host says about it.
struct AscendTask {
  int64_t begin_ns = 0;  // time of day
  int64_t end_ns = 0;
  uint64_t begin = 0;  // the device's counter
  uint64_t end = 0;
  TaskKey key = 0;
  uint32_t host = kNoRow;  // HostTasks::tasks; kNoRow: the host did not record it
  uint32_t type = 0;       // the device's
  bool is_sub_task = false;
};

// Joins by key; by begin, then by key. Tasks that ended before the capture began are left out.
// Of a key that the host gave to several tasks nobody knows which one ran: counted, and such tasks
// are as if the host had not recorded them.
std::vector<AscendTask> JoinTasks(const std::vector<DeviceTask>& device, const HostTasks& host,
                                  int64_t device_id, const SideClock& clock, bool is_dynamic,
                                  store::IssueLog& issues);

}  // namespace steplens::readers::prof
