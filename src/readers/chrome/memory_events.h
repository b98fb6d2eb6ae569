#pragma once

#include <vector>

#include "readers/chrome/event_batch.h"
#include "store/trace_store.h"

namespace steplens::readers {

struct TraceMemory {
  int64_t ts_ns;
  int64_t bytes;
  int64_t address;
  int64_t total_allocated;
  int64_t total_reserved;
  StringId device;
};

// The events of a trace in the order they came, their devices by name.
class TraceMemories {
 public:
  explicit TraceMemories(StringPool& strings) : strings_(strings) {}
  void Append(const EventBatch::Memory& event);
  std::vector<TraceMemory>& rows() { return rows_; }

 private:
  StringPool& strings_;
  std::vector<TraceMemory> rows_;
  // Of the event before: a trace names few devices.
  bool device_known_ = false;
  int64_t device_type_ = 0;
  int64_t device_id_ = 0;
  StringId device_{};
};

// Kineto's '[memory]' events: each becomes a memory_sample; a positive size opens an allocation,
// the negative one at the same address and device closes it. An event without an
// address closes the last one opened of its size. Adds no texts.
void FillMemory(std::vector<TraceMemory> events, store::TraceStore& out);

}  // namespace steplens::readers
