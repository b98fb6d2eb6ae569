#pragma once

#include "store/trace_store.h"

namespace steplens::analysis {

// Appends an async_npu flow from each operator to every kernel it launched, by the HostToDevice
// flows of the exported device part:
//   with a task queue   a launch belongs to the dequeue item during which it happened, that to its
//                       enqueue item, and that to the innermost operator of its thread
//   without             to the innermost operator of the launching thread
// Launches that no operator explains get no flow. Does nothing if the store has such flows.
// O(n log n).
void AppendOperatorLinks(store::TraceStore& store);

}  // namespace steplens::analysis
