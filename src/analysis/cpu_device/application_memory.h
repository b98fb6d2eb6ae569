#pragma once

#include "store/trace_store.h"

namespace steplens::analysis {

// Adds the memory of the whole application over time as samples of the component APP, which
// memory_record.csv has: what the device's exporter says (its table npu_mem, which is taken away)
// or, where the host is the device, the resident memory of the process. Of a capture without
// samples of an allocator nothing is added: its memory was not asked for.
void AddApplicationMemory(store::TraceStore& store, bool is_host_the_device);

}  // namespace steplens::analysis
