// The sizes of live blocks by address, for any number of threads: open addressing in 16 parts, each
// with its own lock.
#ifndef STEPLENS_TORCH_ADAPTER_BLOCK_TABLE_H_
#define STEPLENS_TORCH_ADAPTER_BLOCK_TABLE_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

namespace steplens::torch_adapter {

class BlockTable {
 public:
  void Insert(const void* block, int64_t size) {
    Part& part = PartOf(block);
    Lock lock(&part);
    if ((part.used + 1) * 2 > part.slots.size()) Grow(&part);
    Put(&part, block, size);
  }

  // The size of the block, which is forgotten; -1 if it is not known.
  int64_t Remove(const void* block) {
    Part& part = PartOf(block);
    Lock lock(&part);
    if (part.slots.empty()) return -1;
    const size_t mask = part.slots.size() - 1;
    size_t at = Hash(block) & mask;
    while (part.slots[at].block != block) {
      if (!part.slots[at].block) return -1;
      at = (at + 1) & mask;
    }
    const int64_t size = part.slots[at].size;
    CloseGap(&part, at);
    return size;
  }

 private:
  struct Slot {
    const void* block = nullptr;
    int64_t size = 0;
  };
  struct alignas(64) Part {
    std::atomic<bool> busy{false};
    size_t used = 0;
    std::vector<Slot> slots;  // size 0 or a power of two, at most half full
  };
  // Held for some nanoseconds; waiting is spinning.
  class Lock {
   public:
    explicit Lock(Part* part) : part_(part) {
      while (part_->busy.exchange(true, std::memory_order_acquire)) {
      }
    }
    ~Lock() { part_->busy.store(false, std::memory_order_release); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    Part* part_;
  };

  static size_t Hash(const void* block) {
    const uint64_t hash = (reinterpret_cast<uint64_t>(block) >> 4) * 0x9E3779B97F4A7C15u;
    return static_cast<size_t>(hash >> 20);
  }
  Part& PartOf(const void* block) {
    return parts_[(reinterpret_cast<uintptr_t>(block) >> 6) % parts_.size()];
  }

  static void Put(Part* part, const void* block, int64_t size) {
    const size_t mask = part->slots.size() - 1;
    size_t at = Hash(block) & mask;
    while (part->slots[at].block && part->slots[at].block != block) at = (at + 1) & mask;
    part->used += part->slots[at].block ? 0 : 1;
    part->slots[at] = {block, size};
  }

  static void Grow(Part* part) {
    std::vector<Slot> before(part->slots.empty() ? 64 : part->slots.size() * 2);
    before.swap(part->slots);
    part->used = 0;
    for (const Slot& slot : before) {
      if (slot.block) Put(part, slot.block, slot.size);
    }
  }

  // Linear probing without tombstones: what follows the hole moves up if it may.
  static void CloseGap(Part* part, size_t hole) {
    const size_t mask = part->slots.size() - 1;
    size_t at = hole;
    while (true) {
      at = (at + 1) & mask;
      if (!part->slots[at].block) break;
      const size_t home = Hash(part->slots[at].block) & mask;
      if (((at - home) & mask) < ((at - hole) & mask)) continue;
      part->slots[hole] = part->slots[at];
      hole = at;
    }
    part->slots[hole] = {};
    --part->used;
  }

  std::array<Part, 16> parts_;
};

}  // namespace steplens::torch_adapter

#endif
