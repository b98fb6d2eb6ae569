#pragma once

#include <cstdint>
#include <vector>

#include "readers/ascend_db/db_context.h"
#include "readers/ascend_db/device_tasks.h"

namespace steplens::readers {

// What the db knows of kernels beyond their tasks: rows of COMPUTE_TASK_INFO and
// COMMUNICATION_SCHEDULE_TASK_INFO. Fields that come from the task are not known.
struct KernelInfos {
  std::vector<store::KernelTable::Row> rows;
  IdMap<uint32_t> by_task{kNoRow};  // globalTaskId -> row
};
Result<KernelInfos> ReadKernelInfos(DbContext& db);

// Tasks with an info, and the given collectives -> kernels, by start, with the wait time of
// kernel_details.csv; TASK_PMU_INFO -> kernel_metrics under the headers and in the units of the
// csv.
Status ReadKernels(DbContext& db, const DeviceTasks& tasks, const KernelInfos& infos,
                   const std::vector<store::KernelTable::Row>& collectives);

}  // namespace steplens::readers
