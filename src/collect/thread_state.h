#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include "collect/hot_state.h"
#include "collect/ring_pool.h"
#include "collect/ring_records.h"
#include "steplens/collect.h"

namespace steplens::collect {

// A range that began and did not end yet.
struct OpenRange {
  uint64_t start;
  uint32_t name;
  uint32_t kept;  // recording was on when it began
};

inline constexpr uint32_t kMaxDepth = 65'536;

// What a thread needs to record, touched by that thread only. Made when it records first, freed
// when it ends.
struct ThreadState {
  uint32_t generation = 0;  // the capture it was last prepared for
  uint32_t busy = 0;        // inside a record: a signal handler that comes now is turned away
  ThreadRing* ring = nullptr;
  OpenRange* ranges = nullptr;
  uint32_t depth = 0;
  uint32_t range_capacity = 0;
  uint32_t too_deep = 0;  // ranges begun beyond kMaxDepth
  OpenRange step = {};  // beside the ranges: a step may begin inside a range and end outside of it
  bool has_step = false;
  uint64_t thread_id = 0;
  char error[512] = {};
};

// hot_state.current_generation is not 0 while there is a capture (also while it is paused): its
// number. kAutoPending: none yet, but the environment asks for one, to be started by the first
// thing that happens.
inline constexpr uint32_t kAutoPending = 0xFFFF'FFFF;

// One pointer in the thread's static block: reading it costs one instruction, also when the library
// came by dlopen.
extern constinit thread_local ThreadState* this_thread __attribute__((tls_model("initial-exec")));

// The calling thread's state, made if need be; nullptr if there is no memory.
ThreadState* StateOfThisThread();

// Makes the state ready for capture `generation`: no open ranges, a fitting ring. nullptr: this
// call records nothing.
ThreadState* PrepareThread(uint32_t generation);

// The capture is about to be paused or stopped by this thread: its ranges and its step that are
// open are recorded up to now.
void RecordOpenRanges();

// In the child of a fork: the one thread that is left has no ring.
void ForgetRingInChild();

// The capture whose records are kept, 0: none are. May change at any moment. sl_recording_ is its
// number, so that a hot call reads one shared place to know all about it.
inline uint32_t RecordedGeneration() {
  return hot_state.recorded_generation.load(std::memory_order_relaxed);
}
inline bool IsRecording() { return RecordedGeneration() != 0; }
inline void SetRecordedGeneration(uint32_t generation) {
  hot_state.recorded_generation.store(generation, std::memory_order_release);
  __atomic_store_n(&sl_recording_, generation, __ATOMIC_RELEASE);
}

// The thread's state if records are kept now, else nullptr.
inline ThreadState* RecordingThread() {
  uint32_t generation = RecordedGeneration();
  if (generation == 0) {
    generation = hot_state.current_generation.load(std::memory_order_relaxed);
    if (__builtin_expect(generation != kAutoPending, 1)) return nullptr;
  }
  ThreadState* state = this_thread;
  if (__builtin_expect(state == nullptr || state->generation != generation, 0)) {
    state = PrepareThread(generation);
    if (state == nullptr || !IsRecording()) return nullptr;
  }
  return state;
}

// Asks the writer to come before its time. Safe in signal handlers.
void HurryWriter();

// Counts a record that could not be kept.
void CountDrop(ThreadState* state);

// Writes through the ring that threads share; `bytes` at `record`.
void EmitShared(ThreadState* state, const void* record, size_t bytes);

// The rest of Emit: the ring is at its end, half full or full, or the thread has none.
template <typename Fill>
__attribute__((noinline)) void EmitSlowly(ThreadState* state, size_t bytes, Fill fill) {
  if (state->busy != 0) return CountDrop(state);
  ThreadRing* ring = state->ring;
  if (ring == nullptr) {
    auto* copy = static_cast<uint8_t*>(std::malloc(bytes));
    if (copy == nullptr) return CountDrop(state);
    fill(copy);
    EmitShared(state, copy, bytes);
    return std::free(copy);
  }
  state->busy = 1;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  bool half_full = false;
  uint8_t* place = ring->ring.Reserve(bytes, &half_full);
  if (__builtin_expect(place != nullptr, 1)) {
    fill(place);
    ring->ring.Commit(bytes);
  } else {
    CountDrop(state);
  }
  if (__builtin_expect(half_full, 0)) HurryWriter();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  state->busy = 0;
}

// What mostly happens in Emit: there is room in the thread's ring. False: nothing was done.
template <typename Fill>
inline __attribute__((always_inline)) bool TryEmit(ThreadState* state, size_t bytes,
                                                   const Fill& fill) {
  ThreadRing* ring = state->ring;
  if (__builtin_expect(state->busy != 0 || ring == nullptr, 0)) return false;
  state->busy = 1;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  uint8_t* place = ring->ring.TryReserve(bytes);
  if (__builtin_expect(place != nullptr, 1)) {
    fill(place);
    ring->ring.Commit(bytes);
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  state->busy = 0;
  return place != nullptr;
}

// Puts a record of `bytes` (a multiple of 8) into the thread's ring: fill(place) writes all of it,
// head included. Drops it, counted, if there is no room or this is a signal handler that
// interrupted another record. `fill` is copied.
template <typename Fill>
inline void Emit(ThreadState* state, size_t bytes, Fill fill) {
  if (__builtin_expect(!TryEmit(state, bytes, fill), 0)) EmitSlowly(state, bytes, fill);
}

// A record of fixed size.
template <typename Record>
inline void EmitRecord(ThreadState* state, uint8_t type, uint32_t text, Record record) {
  static_assert(sizeof(Record) % 8 == 0 && std::is_trivially_copyable_v<Record>);
  record.head = RecordHead::Of(type, sizeof(Record), text);
  Emit(state, sizeof(Record),
       [record](uint8_t* place) { *reinterpret_cast<Record*>(place) = record; });
}

}  // namespace steplens::collect
