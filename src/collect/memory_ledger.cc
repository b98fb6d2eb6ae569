#include "collect/memory_ledger.h"

#include <algorithm>

namespace steplens::collect {

void MemoryLedger::Settle(uint64_t until, const Emit& emit) {
  const auto later = std::stable_partition(waiting_.begin(), waiting_.end(),
                                           [&](const Block& block) { return block.time < until; });
  std::stable_sort(waiting_.begin(), later,
                   [](const Block& a, const Block& b) { return a.time < b.time; });
  for (auto block = waiting_.begin(); block != later; ++block) Take(*block, emit);
  waiting_.erase(waiting_.begin(), later);
}

void MemoryLedger::Take(const Block& block, const Emit& emit) {
  const bool is_free = block.size == 0;
  const auto live = sizes_.find(block.address);
  if (is_free && live == sizes_.end()) return;
  const int64_t freed = live != sizes_.end() ? live->second : 0;  // unseen: recording was paused
  total_bytes_ += block.size - freed;
  if (is_free) {
    sizes_.erase(live);
  } else {
    sizes_[block.address] = block.size;
  }
  sl_memory event = {};
  event.time = block.time;
  event.address = block.address;
  event.size = is_free ? -freed : block.size;
  event.total_allocated = event.total_reserved = event.total_active = total_bytes_;
  event.device_type = block.device_type;
  event.device_index = block.device_index;
  event.kind = is_free ? SL_FREE : SL_MALLOC;
  emit(event, block.thread_id);
}

}  // namespace steplens::collect
