#include "collect/thread_state.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>

#include "collect/auto.h"
#include "collect/library.h"

namespace steplens::collect {

constinit HotState hot_state;
constinit thread_local ThreadState* this_thread = nullptr;

namespace {

// At the end of a thread: its ring is left to the writer, which empties it and gives it to another.
void EndThread(void* pointer) {
  auto* state = static_cast<ThreadState*>(pointer);
  this_thread = nullptr;
  if (state->ring != nullptr) state->ring->orphaned.store(true, std::memory_order_release);
  std::free(state->ranges);
  state->~ThreadState();
  std::free(state);
}

pthread_key_t EndOfThreadKey() {
  static const pthread_key_t key = [] {
    pthread_key_t made;
    pthread_key_create(&made, EndThread);
    return made;
  }();
  return key;
}

// The first record of a thread in a ring says whose it is.
void Introduce(ThreadState* state) {
  ThreadRecord record = {};
  record.thread_id = state->thread_id;
  prctl(PR_GET_NAME, record.name);
  EmitRecord(state, kRingThread, 0, record);
}

}  // namespace

ThreadState* StateOfThisThread() {
  if (this_thread != nullptr) return this_thread;
  void* memory = std::calloc(1, sizeof(ThreadState));
  if (memory == nullptr) return nullptr;
  auto* state = new (memory) ThreadState;
  state->thread_id = static_cast<uint64_t>(syscall(SYS_gettid));
  this_thread = state;
  pthread_setspecific(EndOfThreadKey(), state);
  return state;
}

ThreadState* PrepareThread(uint32_t generation) {
  if (generation == kAutoPending) {
    AutoBegin();
    generation = hot_state.current_generation.load(std::memory_order_acquire);
  }
  if (generation == 0 || generation == kAutoPending) return nullptr;
  ThreadState* state = StateOfThisThread();
  if (state == nullptr || state->busy != 0) return nullptr;
  if (state->generation == generation) return state;
  state->busy = 1;  // a signal handler must not find the pool's lock held by its own thread
  std::atomic_signal_fence(std::memory_order_seq_cst);
  RingPool& pool = TheLibrary().rings;
  if (state->ring != nullptr && !pool.Fits(*state->ring)) {
    state->ring->orphaned.store(true, std::memory_order_release);
    state->ring = nullptr;
  }
  if (state->ring == nullptr) state->ring = pool.Acquire();
  state->depth = 0;
  state->too_deep = 0;
  state->has_step = false;
  state->generation = generation;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  state->busy = 0;
  if (state->ring != nullptr) Introduce(state);
  return state;
}

void ForgetRingInChild() {
  if (this_thread == nullptr) return;
  this_thread->ring = nullptr;
  this_thread->generation = 0;
  this_thread->depth = 0;
  this_thread->has_step = false;
  this_thread->thread_id = static_cast<uint64_t>(syscall(SYS_gettid));
}

void CountDrop(ThreadState* state) {
  ThreadRing* ring = state->ring != nullptr ? state->ring : TheLibrary().rings.shared();
  if (ring != nullptr) ring->dropped.fetch_add(1, std::memory_order_relaxed);
}

namespace {

// Takes a lock that is held for some tens of nanoseconds, or, where its holder was put to sleep on
// a machine with more threads than cores, for turns of the scheduler: a fifth of a second with
// thousands of threads. Gives up after that.
bool LockSoon(std::atomic_flag& lock) {
  constexpr int kSpins = 2000;
  constexpr int kNaps = 4000;
  for (int attempt = 0; attempt < kSpins; ++attempt) {
    if (!lock.test_and_set(std::memory_order_acquire)) return true;
    if (attempt % 64 == 63) sched_yield();
  }
  for (int nap = 0; nap < kNaps; ++nap) {
    const timespec pause{0, 50'000};
    nanosleep(&pause, nullptr);
    if (!lock.test_and_set(std::memory_order_acquire)) return true;
  }
  return false;
}

}  // namespace

void EmitShared(ThreadState* state, const void* record, size_t bytes) {
  RingPool& pool = TheLibrary().rings;
  ThreadRing* shared = pool.shared();
  if (shared == nullptr) return;
  if (state->busy != 0) return CountDrop(state);
  state->busy = 1;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const bool locked = LockSoon(pool.shared_lock());
  ThreadRecord owner = {};
  owner.head = RecordHead::Of(kRingThread, sizeof(owner), 0);
  owner.thread_id = state->thread_id;
  bool half_full = false;
  uint8_t* place = locked ? shared->ring.Reserve(sizeof(owner) + bytes, &half_full) : nullptr;
  if (place != nullptr) {
    std::memcpy(place, &owner, sizeof(owner));
    std::memcpy(place + sizeof(owner), record, bytes);
    shared->ring.Commit(sizeof(owner) + bytes);
  } else {
    CountDrop(state);
  }
  if (locked) pool.shared_lock().clear(std::memory_order_release);
  if (half_full) HurryWriter();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  state->busy = 0;
}

}  // namespace steplens::collect
