#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "store/trace_store.h"

namespace steplens::readers {

// Which operator an allocation belongs to, by thread and time:
//   on a thread that takes from the task queue: the dequeue item that runs then, its enqueue item,
//     the last operator of the enqueue's thread that started before it, and of that and what it is
//     nested in the first whose name begins with "aten" or "npu";
//   elsewhere: the last operator of the thread that started before the time, or what it is nested
//     in, that had not ended.
class AllocationNames {
 public:
  // `store` must outlive this and have its operators and queue items.
  explicit AllocationNames(const store::TraceStore& store);

  // The empty text if no operator is found. O(log n + depth).
  StringId Find(store::TrackId track, int64_t ts_ns) const;

 private:
  // Rows of slices by start; for operators with the place of the enclosing one.
  struct Lane {
    std::vector<uint32_t> slices;
    std::vector<uint32_t> parent;  // place in `slices`; kNoId: none
  };
  static void Nest(const store::TraceStore& store, Lane& lane);
  // Place of the last slice that starts at or before the time; kNoId if none does.
  uint32_t LastStarted(const Lane& lane, int64_t ts_ns) const;
  int64_t EndNs(uint32_t slice) const;
  StringId FindThroughQueue(const Lane& dequeues, int64_t ts_ns) const;

  const store::TraceStore& store_;
  std::map<store::TrackId, Lane> ops_;
  std::map<store::TrackId, Lane> dequeues_;
  std::unordered_map<int64_t, uint32_t> enqueue_of_;  // correlation id -> slice
};

}  // namespace steplens::readers
