#pragma once

#include "readers/ascend_db/db_context.h"

namespace steplens::readers {

// NPU_MEM (the APP rows) and MEMORY_RECORD -> memory_samples, OP_MEMORY -> allocations,
// NPU_MODULE_MEM -> module_memory.
Status ReadMemory(DbContext& db);

}  // namespace steplens::readers
