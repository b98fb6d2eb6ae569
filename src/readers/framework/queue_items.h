#pragma once

#include "base/status.h"
#include "readers/framework/context.h"
#include "readers/framework/record_reader.h"

namespace steplens::readers {

// torch.op_mark -> slices of the task queue: dequeue items, then enqueue items, each by end time,
// and an async_task_queue flow for every correlation id that has both. Per thread and name an end
// takes the latest start and forgets earlier ones. Threads that take from the queue are shown last.
Status ReadQueueItems(RecordReader& reader, FrameworkContext& ctx);

}  // namespace steplens::readers
