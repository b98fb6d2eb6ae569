#include "collect/ring_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <new>

namespace steplens::collect {
namespace {

constexpr size_t kSmallestRing = 16 * 1024;
constexpr uint64_t kLeastAhead = 256 * 1024;
// Where thousands of threads share it the writer, one among them all, may not get its turn for
// long.
constexpr size_t kSharedRing = 1024 * 1024;

// Gives pages their memory, without changing what is in them. Kernels before 5.14 do nothing.
void TouchPages(uint8_t* data, uint64_t bytes) {
#ifndef MADV_POPULATE_WRITE
  constexpr int MADV_POPULATE_WRITE = 23;
#endif
  constexpr uintptr_t kPage = 4096;
  if (bytes == 0) return;
  const uintptr_t first = reinterpret_cast<uintptr_t>(data) & ~(kPage - 1);
  const uintptr_t last = (reinterpret_cast<uintptr_t>(data) + bytes + kPage - 1) & ~(kPage - 1);
  madvise(reinterpret_cast<void*>(first), last - first, MADV_POPULATE_WRITE);
}

}  // namespace

void RingPool::Prepare(size_t thread_bytes, size_t total_bytes) {
  const std::lock_guard lock(mutex_);
  thread_bytes_ = std::bit_floor(std::clamp<size_t>(thread_bytes, kSmallestRing, 1ull << 30));
  total_bytes_ = std::max(total_bytes, 2 * kSmallestRing);
  std::vector<ThreadRing*> kept;
  for (ThreadRing* ring : rings_) {
    if (ring->is_free || ring->orphaned.load(std::memory_order_acquire)) {
      Destroy(ring);
      continue;
    }
    ring->ring.Clear();
    ring->dropped.store(0, std::memory_order_relaxed);
    kept.push_back(ring);
  }
  rings_.swap(kept);
  if (shared_ == nullptr) shared_ = Make(std::min<size_t>(kSharedRing, total_bytes_ / 2));
  if (shared_ == nullptr) return;
  shared_->ring.Clear();
  shared_->dropped.store(0, std::memory_order_relaxed);
}

void RingPool::Trim() {
  const std::lock_guard lock(mutex_);
  for (ThreadRing* ring : rings_) {
    madvise(ring->ring.data(), ring->ring.capacity(), MADV_DONTNEED);
    ring->new_at = ring->ready_until = ring->seen = ring->ring.written();
  }
}

void RingPool::TouchAhead(ThreadRing& ring) {
  const uint64_t head = ring.ring.written();
  const uint64_t recorded = head - ring.seen;  // since the last pass
  ring.seen = head;
  if (recorded == 0) return;
  const uint64_t capacity = ring.ring.capacity();
  // One lap after it was new all of it was written to.
  const uint64_t end = std::min(head + std::max(kLeastAhead, 2 * recorded), ring.new_at + capacity);
  const uint64_t begin = std::max(head, ring.ready_until);
  if (end <= begin) return;
  ring.ready_until = end;
  const uint64_t offset = begin & (capacity - 1);
  const uint64_t to_end = std::min(end - begin, capacity - offset);
  TouchPages(ring.ring.data() + offset, to_end);
  TouchPages(ring.ring.data(), end - begin - to_end);
}

ThreadRing* RingPool::Acquire() {
  const std::lock_guard lock(mutex_);
  for (ThreadRing* ring : rings_) {
    if (!ring->is_free || !Fits(*ring)) continue;
    ring->is_free = false;
    ring->orphaned.store(false, std::memory_order_relaxed);
    return ring;
  }
  const size_t left = total_bytes_ > allocated_bytes_ ? total_bytes_ - allocated_bytes_ : 0;
  const size_t wanted = thread_bytes_.load(std::memory_order_relaxed);
  const bool is_plenty = left / 2 >= wanted && left >= total_bytes_ / 2;
  const size_t share = std::max(std::bit_floor(std::max<size_t>(left / 64, 1)), kSmallestRing);
  const size_t bytes = is_plenty ? wanted : std::min(wanted, share);
  if (bytes > left) return nullptr;
  ThreadRing* ring = Make(bytes);
  if (ring != nullptr) rings_.push_back(ring);
  return ring;
}

ThreadRing* RingPool::Make(size_t bytes) {
  bytes = std::max(std::bit_floor(bytes), kSmallestRing);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* ring = new (std::nothrow) ThreadRing(static_cast<uint8_t*>(memory), bytes, thread_bytes_);
  if (ring == nullptr) {
    munmap(memory, bytes);
    return nullptr;
  }
  allocated_bytes_ += bytes;
  return ring;
}

void RingPool::Destroy(ThreadRing* ring) {
  allocated_bytes_ -= ring->ring.capacity();
  munmap(ring->ring.data(), ring->ring.capacity());
  delete ring;
}

void RingPool::Snapshot() {
  const std::lock_guard lock(mutex_);
  snapshot_.clear();
  for (ThreadRing* ring : rings_) {
    if (!ring->is_free) snapshot_.push_back(ring);
  }
  if (shared_ != nullptr) snapshot_.push_back(shared_);
}

void RingPool::Recycle() {
  const std::lock_guard lock(mutex_);
  for (ThreadRing* ring : rings_) {
    if (ring->is_free || !ring->orphaned.load(std::memory_order_acquire)) continue;
    if (ring->ring.empty()) ring->is_free = true;
  }
}

uint64_t RingPool::dropped() const {
  const std::lock_guard lock(mutex_);
  uint64_t sum = shared_ != nullptr ? shared_->dropped.load(std::memory_order_relaxed) : 0;
  for (const ThreadRing* ring : rings_) sum += ring->dropped.load(std::memory_order_relaxed);
  return sum;
}

size_t RingPool::allocated_bytes() const {
  const std::lock_guard lock(mutex_);
  return allocated_bytes_;
}

void RingPool::ResetInChild() {
  for (ThreadRing* ring : rings_) Destroy(ring);
  rings_.clear();
  snapshot_.clear();
  if (shared_ != nullptr) Destroy(shared_);
  shared_ = nullptr;
  shared_lock_.clear();
  mutex_.unlock();
}

}  // namespace steplens::collect
