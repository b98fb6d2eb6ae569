#pragma once

#include <vector>

#include "readers/ascend_db/db_context.h"
#include "readers/ascend_db/device_tasks.h"
#include "readers/ascend_db/host_slices.h"
#include "readers/ascend_db/kernels.h"

namespace steplens::readers {

// The tasks as slices of their streams. Returns the ends of their launches; those of communication
// tasks end at the collective instead.
//
// A slice is named by what the db knows of the kernel, by the marker behind it, or by its
// TASK.taskType. A task of several sub-tasks (fused and mixed kernels, collectives run as one
// graph) has no slice of its own: like in the text trace only the sub-tasks show.
std::vector<LaunchTarget> AppendTaskSlices(DbContext& db, const DeviceTasks& tasks,
                                           const KernelInfos& infos, const HostSlices& host);

}  // namespace steplens::readers
