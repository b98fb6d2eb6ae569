#pragma once

#include <vector>

#include "readers/chrome/event_batch.h"
#include "store/trace_store.h"

namespace steplens::readers {

// Kineto's '[memory]' events: each becomes a memory_sample; a positive size opens an allocation,
// the negative one at the same address and device closes it. Events without an address open
// allocations that are never seen to close.
void FillMemory(std::vector<EventBatch::Memory> events, store::TraceStore& out);

}  // namespace steplens::readers
