#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/status.h"
#include "readers/framework/context.h"
#include "readers/framework/record_reader.h"

namespace steplens::readers {

// One event of an allocator, with its time already on the epoch.
struct MemoryEvent {
  int64_t ts_ns = 0;
  int64_t address = 0;
  int64_t size_bytes = 0;  // negative for both kinds of free
  int64_t allocated_bytes = 0;
  int64_t reserved_bytes = 0;
  int64_t active_bytes = 0;
  int64_t stream = 0;
  store::TrackId track = store::kNoTrack;
  int8_t device = 0;
  uint8_t kind = 0;       // 0 malloc, 1 free, 2 block free
  uint8_t component = 0;  // 0 caching allocator, 1 workspace
  bool is_inner = true;
};

// torch.memory_usage of any era: the device's events, in file order. Those of the CPU's allocator
// (device type 0) are not kept, as no result file has them.
Result<std::vector<MemoryEvent>> ReadMemoryEvents(RecordReader& reader, FrameworkContext& ctx);

// memory_samples (components PTA and WORKSPACE, by time) and allocations (by allocation time), the
// latter named after the operators and queue items already in the store. `only_device` replaces
// the recorded device number.
void AppendMemory(std::vector<MemoryEvent> events, std::optional<int64_t> only_device,
                  store::TraceStore& out);

}  // namespace steplens::readers
