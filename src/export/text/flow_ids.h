#pragma once

#include <cstdint>
#include <vector>

#include "store/trace_store.h"

namespace steplens::exporting {

// The ids flows have in the trace, one per flow of the store. The store keeps none, so they are
// made again: unique within a kind, equal for equal stores.
//   async_npu      start of the kernel in ns; mindspore_to_mstx: of the mark
//   fwdbwd         sequence number of the forward operator
//   HostToDevice   connection << 32
//   MsTx           connection
//   others         a running number
// An id that is taken already becomes the next free one.
std::vector<uint64_t> MakeFlowIds(const store::TraceStore& store);

}  // namespace steplens::exporting
