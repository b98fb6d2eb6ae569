#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "readers/chrome/flow_pairing.h"
#include "store/trace_store.h"

namespace steplens::readers {

// Arrows whose id is not the number that torch_npu gives them.
struct OddFlowIds {
  uint64_t count = 0;
  std::string first;  // which, in words; empty if there are none
};

// torch_npu numbers an arrow to a device task (async_npu) by the time it ends at, in ns; one from
// an enqueue to its dequeue (async_task_queue) by the correlation id of both; one from a forward
// operator to its backward one (fwdbwd) by the sequence number of both. Arrows of other writers are
// not looked at. Starts and ends are in the order of the trace.
OddFlowIds FindOddFlowIds(const std::vector<FlowEnd>& starts, const std::vector<FlowEnd>& ends,
                          const store::TraceStore& trace);

}  // namespace steplens::readers
