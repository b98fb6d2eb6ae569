#pragma once

#include <vector>

#include "readers/ascend_db/db_context.h"
#include "readers/ascend_db/device_tasks.h"

namespace steplens::readers {

// Collectives as other tables show them.
struct Collectives {
  std::vector<store::KernelTable::Row> kernels;  // their rows of kernel_details.csv
  std::vector<LaunchTarget> targets;  // ends of their launches, on the track of the group
};

// COMMUNICATION_OP -> comm_ops and slices on the track of the group, by start;
// COMMUNICATION_TASK_INFO joined with the tasks -> comm_tasks and, where the plane is known, slices
// on the track of the plane. Marks the tasks as communication.
Result<Collectives> ReadCommunication(DbContext& db, DeviceTasks& tasks);

}  // namespace steplens::readers
