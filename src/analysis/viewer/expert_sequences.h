#pragma once

#include <cstdint>

#include "store/trace_store.h"
#include "table/table.h"

namespace steplens::analysis::viewer {

// Consecutive framework operators of one thread (those with the same parent) that one operator of
// torch_npu replaces. Times in the tables count from the origin.
table::Table AffinityApiTable(const store::TraceStore& store, int64_t origin_ns);

// Consecutive kernels of one stream that one kernel replaces; collectives do not count.
table::Table FusionTable(const store::TraceStore& store, int64_t origin_ns);

}  // namespace steplens::analysis::viewer
