#pragma once

#include <vector>

#include "readers/ascend_db/db_context.h"
#include "readers/ascend_db/device_tasks.h"
#include "readers/ascend_db/host_slices.h"

namespace steplens::readers {

// CONNECTION_IDS and the connection ids of API and task rows -> flows:
//
//   async_task_queue   start of the enqueue item  -> start of the dequeue item
//   fwdbwd             start of the forward op    -> start of the backward op
//   async_npu          start of the host op       -> start of a kernel or collective it launched
//   HostToDevice       start of the CANN API      -> start of the task or collective it launched
//   MsTx               start of the marker        -> start of its task
//
// Queue items get their link id as correlation.
Status ReadFlows(DbContext& db, const HostSlices& host, std::vector<LaunchTarget> targets);

}  // namespace steplens::readers
