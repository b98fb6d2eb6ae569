#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "collect/ring.h"

namespace steplens::collect {

// A ring and who uses it. Made and freed by the pool; the memory of the ring is mapped, so that
// only what was used counts.
struct ThreadRing {
  ThreadRing(uint8_t* data, size_t capacity, size_t wanted)
      : ring(data, capacity), wanted_bytes(wanted) {}
  Ring ring;
  const size_t wanted_bytes;          // what the capture asked for when it was made
  std::atomic<bool> orphaned{false};  // the thread is gone, or has left this ring
  std::atomic<uint64_t> dropped{0};   // records that found no room
  uint64_t reader_thread_id = 0;      // consumer: whose the next record is
  // Consumer, as Ring::written: where the memory was new, how far it is ready, and the last look.
  uint64_t new_at = 0;
  uint64_t ready_until = 0;
  uint64_t seen = 0;
  bool is_free = false;  // guarded by the pool
};

// The rings of all threads within a bound. A thread takes one when it records first and leaves it
// when it ends; it goes to another thread once it is drained. When the bound comes near, rings
// become smaller (not below 16 KiB), and when nothing is left threads share one ring behind a short
// lock.
class RingPool {
 public:
  // For a new capture: what earlier ones left behind is forgotten. The consumer must not be
  // running.
  void Prepare(size_t thread_bytes, size_t total_bytes);
  // After a capture: gives the memory of all rings back to the system. The consumer must not be
  // running.
  void Trim();

  // A ring for the calling thread, or nullptr: use the shared one.
  ThreadRing* Acquire();
  // True if `ring` fits the present capture.
  bool Fits(const ThreadRing& ring) const {
    return ring.wanted_bytes == thread_bytes_.load(std::memory_order_relaxed);
  }

  // Calls take(ThreadRing&) for every ring that may hold records, the shared one included; then
  // puts those whose threads are gone back. For the consumer only.
  template <typename Take>
  void ForEach(Take take) {
    Snapshot();
    for (ThreadRing* ring : snapshot_) take(*ring);
    Recycle();
  }

  // Touches the pages that the ring's thread will write to next, if it is busy: to wait for a new
  // page costs it as much as some twenty operators. For the consumer only.
  static void TouchAhead(ThreadRing& ring);

  // The ring of threads that have none; hold shared_lock() while writing. nullptr if there is no
  // memory.
  ThreadRing* shared() const { return shared_; }
  std::atomic_flag& shared_lock() { return shared_lock_; }

  uint64_t dropped() const;
  size_t allocated_bytes() const;

  // Around fork. In the child all rings are unmapped: their threads do not exist there.
  void LockForFork() { mutex_.lock(); }
  void UnlockInParent() { mutex_.unlock(); }
  void ResetInChild();

 private:
  ThreadRing* Make(size_t bytes);  // mutex_ is held
  void Destroy(ThreadRing* ring);  // likewise; not in rings_ any more
  void Snapshot();
  void Recycle();

  mutable std::mutex mutex_;
  std::vector<ThreadRing*> rings_;     // all, the shared one not included
  std::vector<ThreadRing*> snapshot_;  // the consumer's copy
  ThreadRing* shared_ = nullptr;
  std::atomic_flag shared_lock_ = ATOMIC_FLAG_INIT;
  std::atomic<size_t> thread_bytes_{0};
  size_t total_bytes_ = 0;
  size_t allocated_bytes_ = 0;
};

}  // namespace steplens::collect
