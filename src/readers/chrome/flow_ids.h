#pragma once

#include <cstdint>
#include <optional>

#include "readers/chrome/flow_pairing.h"
#include "store/trace_store.h"

namespace steplens::readers {

// Arrows whose id is not the number that torch_npu gives them.
struct OddFlowIds {
  uint64_t count = 0;
  FlowEnd first{};
};

// The texts by which torch_npu's arrows, and what they connect, are known; none where a trace does
// not have it.
struct TorchNpuTexts {
  explicit TorchNpuTexts(const StringPool& strings);
  std::optional<StringId> launch, queue, gradient;  // kinds of arrows
  std::optional<StringId> enqueue, dequeue;         // categories of slices
};

// torch_npu numbers an arrow to a device task (async_npu) by the time it ends at, in ns; one from
// an enqueue to its dequeue (async_task_queue) by the correlation id of both; one from a forward
// operator to its backward one (fwdbwd) by the sequence number of both. Arrows of other writers are
// not looked at. Starts and ends are in the order of the trace; its times were moved by `shift_ns`.
// Reads slices and operators only, no texts.
OddFlowIds FindOddFlowIds(const LooseFlows& flows, const TorchNpuTexts& texts, int64_t shift_ns,
                          const store::TraceStore& trace);

}  // namespace steplens::readers
