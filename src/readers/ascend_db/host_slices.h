#pragma once

#include <cstdint>
#include <vector>

#include "readers/ascend_db/db_context.h"

namespace steplens::readers {

// A PYTORCH_API row that has links: its slice, and its host_ops row (kNoRow for an item of the task
// queue).
struct ApiRow {
  uint32_t slice = kNoRow;
  uint32_t host_op = kNoRow;
};

// Host slices by the ids that other tables name them with; built, ready to Find.
struct HostSlices {
  IdMap<ApiRow> by_link{ApiRow{}};  // PYTORCH_API.connectionId = CONNECTION_IDS.id
  uint64_t linked_rows = 0;         // in by_link
  IdMap<uint32_t> cann{kNoRow};     // CANN_API.connectionId -> slice
  IdMap<uint32_t> markers{kNoRow};  // MSTX_EVENTS.connectionId -> slice
};

// PYTORCH_API (with PYTORCH_CALLCHAINS), CANN_API, MSTX_EVENTS, OSRT_API and GC_RECORD -> slices
// and host_ops.
Result<HostSlices> ReadHostSlices(DbContext& db);

}  // namespace steplens::readers
