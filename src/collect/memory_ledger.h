#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "steplens/collect.h"

namespace steplens::collect {

// Sizes of frees and running totals of blocks whose allocations and frees come without them
// (sl_record_block), so that threads need not share a table. Used by one thread, the writer.
//
// Rings are drained one after the other, so a block may seem to be freed before it is allocated:
// events wait until every ring has been drained once after them and are then taken in the order of
// their times.
class MemoryLedger {
 public:
  using Emit = std::function<void(const sl_memory& event, uint64_t thread_id)>;

  struct Block {
    uint64_t time;
    int64_t address;
    int64_t size;  // 0: it is freed
    uint64_t thread_id;
    int8_t device_type;
    int8_t device_index;
  };

  void Add(const Block& block) { waiting_.push_back(block); }
  // Emits what happened before `until`, in order. A free of a block that was allocated before the
  // capture has no size and is left out.
  void Settle(uint64_t until, const Emit& emit);

 private:
  void Take(const Block& block, const Emit& emit);

  std::vector<Block> waiting_;
  std::unordered_map<int64_t, int64_t> sizes_;  // of live blocks by address
  int64_t total_bytes_ = 0;
};

}  // namespace steplens::collect
