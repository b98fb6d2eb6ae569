#pragma once

#include "readers/ascend_db/db_context.h"

namespace steplens::readers {

// The sampled tables (AICORE_FREQ, HBM, LLC, NPU_MEM, ...) -> counters, one track per series, with
// the names, labels and units of the text trace. A series is in time order.
Status ReadCounters(DbContext& db);

}  // namespace steplens::readers
