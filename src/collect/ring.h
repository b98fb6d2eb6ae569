#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace steplens::collect {

// The first word of every record in a ring: its length in bytes (a multiple of 8, this word
// included) and its type.
struct RecordHead {
  uint32_t bytes_and_type = 0;
  uint32_t text = 0;  // most records have one; sl_string

  static RecordHead Of(uint8_t type, size_t bytes, uint32_t text) {
    return {static_cast<uint32_t>(bytes << 8) | type, text};
  }
  uint8_t type() const { return static_cast<uint8_t>(bytes_and_type); }
  uint32_t bytes() const { return bytes_and_type >> 8; }
};
static_assert(sizeof(RecordHead) == 8);

inline constexpr uint8_t kSkipRecord = 0;  // what is left at the end of the ring
inline constexpr size_t kMaxRecordBytes = 1 << 20;

// A ring of whole records between one producer and one consumer, without locks. Positions only
// grow; the capacity is a power of two. A record never wraps around the end: the rest is skipped.
class Ring {
 public:
  // `data` has `capacity` bytes, aligned to 8; owned by the caller.
  Ring(uint8_t* data, size_t capacity) : data_(data), capacity_(capacity) {}
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  size_t capacity() const { return capacity_; }
  uint8_t* data() const { return data_; }

  // ---- The producer ----

  // Room for a record of `bytes` (a multiple of 8) if that is certain without asking the consumer,
  // else nullptr: Reserve looks closer.
  uint8_t* TryReserve(size_t bytes) {
    if (__builtin_expect(head_ + bytes > limit_, 0)) return nullptr;
    return data_ + (head_ & (capacity_ - 1));
  }

  // Room for a record of `bytes` (a multiple of 8), or nullptr if the ring is full or could never
  // hold it. Fill it, then Commit. `*half_full` becomes true if the consumer should hurry.
  uint8_t* Reserve(size_t bytes, bool* half_full) {
    const size_t offset = head_ & (capacity_ - 1);
    const size_t to_end = capacity_ - offset;
    const size_t skip = bytes > to_end ? to_end : 0;
    if (__builtin_expect(head_ + skip + bytes - known_tail_ > capacity_ / 2, 0)) {
      known_tail_ = tail_.load(std::memory_order_acquire);
      const uint64_t used = head_ + skip + bytes - known_tail_;
      *half_full = used > capacity_ / 2;
      if (used > capacity_ || bytes > capacity_ / 2) return nullptr;
    }
    if (skip != 0) {
      *reinterpret_cast<RecordHead*>(data_ + offset) = RecordHead::Of(kSkipRecord, skip, 0);
      head_ += skip;
    }
    const uint64_t end_of_lap = (head_ | (capacity_ - 1)) + 1;
    const uint64_t half = known_tail_ + capacity_ / 2;
    limit_ = end_of_lap < half ? end_of_lap : half;
    return data_ + (head_ & (capacity_ - 1));
  }

  void Commit(size_t bytes) {
    FetchAhead(bytes);
    head_ += bytes;
    published_head_.store(head_, std::memory_order_release);
  }

  // ---- The consumer ----

  // How much was committed since the ring was made.
  uint64_t written() const { return published_head_.load(std::memory_order_acquire); }

  // Calls take(const RecordHead*) for each record committed so far, in order; space is handed back
  // as it goes.
  template <typename Take>
  void Drain(Take take) {
    const uint64_t head = published_head_.load(std::memory_order_acquire);
    uint64_t tail = tail_.load(std::memory_order_relaxed);
    uint64_t handed_back = tail;
    while (tail < head) {
      const auto* record = reinterpret_cast<const RecordHead*>(data_ + (tail & (capacity_ - 1)));
      const uint32_t bytes = record->bytes();
      if (bytes == 0) break;  // the memory was given back under a late writer
      if (record->type() != kSkipRecord) take(record);
      tail += bytes;
      if (tail - handed_back >= capacity_ / 8) {
        tail_.store(tail, std::memory_order_release);
        handed_back = tail;
      }
    }
    tail_.store(head, std::memory_order_release);
  }

  // Forgets what was not drained.
  void Clear() {
    Drain([](const RecordHead*) {});
  }

  bool empty() const {
    return published_head_.load(std::memory_order_acquire) == tail_.load(std::memory_order_relaxed);
  }

 private:
  static constexpr size_t kLine = 64;
  static constexpr size_t kAhead = 8 * kLine;  // some records

  // Asks for as many lines further on as a record of `bytes` fills. The consumer has them on its
  // core, and a store that waits for one holds up all that follow it.
  void FetchAhead(size_t bytes) const {
    for (size_t at = 0; at < bytes; at += kLine) {
      const uint8_t* line = data_ + ((head_ + kAhead + at) & (capacity_ - 1));
#if defined(__x86_64__)
      asm volatile("prefetchw %0" : : "m"(*line));  // the compiler's own asks for reading only
#else
      __builtin_prefetch(line, 1);
#endif
    }
  }

  // The producer's cache line.
  alignas(64) uint8_t* const data_;
  const size_t capacity_;
  uint64_t head_ = 0;
  uint64_t known_tail_ = 0;
  uint64_t limit_ = 0;  // up to here there is room and the ring neither ends nor is half full
  std::atomic<uint64_t> published_head_{0};
  // The consumer's.
  alignas(64) std::atomic<uint64_t> tail_{0};
};

}  // namespace steplens::collect
