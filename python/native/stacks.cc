#include "stacks.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "frames.h"
#include "names.h"

namespace steplens::python {

constinit thread_local FrameMoves frame_moves;

namespace {

constexpr size_t kMaxFrames = 128;
constexpr size_t kCacheSize = 2048;  // stacks a thread remembers; a power of two
constexpr size_t kWays = 4;          // places a stack may have

std::atomic<uint64_t> epoch{0};
std::atomic<bool> want_stacks{false};
std::atomic<bool> want_modules{false};
std::atomic<Py_tracefunc> hook{nullptr};
KeptObjects kept;

struct Remembered {
  uint64_t hash = 0;
  std::vector<Frame> frames;  // outermost first; empty: nothing is remembered here
  sl_string call_stack = 0;
  sl_string modules = 0;
};

// The frames of a thread when its stack was last asked for.
struct Chain {
  size_t count = 0;
  bool is_whole = false;  // has all frames, and the hook follows what becomes of them
  std::array<Frame, kMaxFrames> frames;  // outermost first
  std::array<const void*, kMaxFrames> places;
  std::array<uint64_t, kMaxFrames> hashes;  // of the frames up to here
};

struct ThreadStacks {
  uint64_t epoch = 0;
  const Remembered* last = nullptr;  // the stack of `chain`
  Chain chain;
  std::array<Remembered, kCacheSize> entries;
};

// A plain pointer is what the hot path reads; the owner ends it with the thread.
thread_local ThreadStacks* thread_stacks = nullptr;
struct ThreadStacksOwner {
  ~ThreadStacksOwner() {
    delete thread_stacks;
    thread_stacks = nullptr;
  }
};

ThreadStacks& RenewStacks(uint64_t now) {
  thread_local ThreadStacksOwner owner;
  delete thread_stacks;
  thread_stacks = new ThreadStacks;
  thread_stacks->epoch = now;
  return *thread_stacks;
}

ThreadStacks& OfThread() {
  const uint64_t now = epoch.load(std::memory_order_relaxed);
  if (thread_stacks && thread_stacks->epoch == now) return *thread_stacks;
  return RenewStacks(now);
}

bool Same(const Frame& a, const Frame& b) {
  return a.code == b.code && a.instruction == b.instruction && a.module == b.module;
}

uint64_t AddToHash(uint64_t hash, const Frame& frame) {
  hash = (hash ^ reinterpret_cast<uintptr_t>(frame.code)) * 0x9E3779B97F4A7C15u;
  return hash ^ static_cast<uint64_t>(frame.instruction) ^
         reinterpret_cast<uintptr_t>(frame.module) ^ (hash >> 29);
}

bool IsOf(const Remembered& entry, const Chain& chain) {
  return entry.hash == chain.hashes[chain.count - 1] &&
         std::equal(entry.frames.begin(), entry.frames.end(), chain.frames.begin(),
                    chain.frames.begin() + static_cast<ptrdiff_t>(chain.count), Same);
}

sl_string Intern(const std::string& text) {
  return text.empty() ? 0 : sl_intern(text.data(), text.size());
}

// Names the frames. Takes the interpreter lock, whether the thread has it or not.
void Resolve(const Chain& chain, Remembered* out) {
  const PyGILState_STATE state = PyGILState_Ensure();
  std::string stack, modules;
  for (size_t i = chain.count; i-- > 0;) {
    const Frame& frame = chain.frames[i];
    kept.Keep(reinterpret_cast<PyObject*>(frame.code));
    if (!stack.empty()) stack += ';';
    stack += FrameText(frame.code, static_cast<int>(frame.instruction));
    if (!frame.module) continue;
    kept.Keep(reinterpret_cast<PyObject*>(frame.module));
    modules = modules.empty() ? ClassName(frame.module) : ClassName(frame.module) + ";" + modules;
  }
  PyGILState_Release(state);
  out->hash = chain.hashes[chain.count - 1];
  out->frames.assign(chain.frames.begin(),
                     chain.frames.begin() + static_cast<ptrdiff_t>(chain.count));
  out->call_stack = want_stacks ? Intern(stack) : 0;
  out->modules = want_modules ? Intern(modules) : 0;
}

// The entry of the chain's stack, made if need be; the oldest way of its set is given up for it.
const Remembered* Find(const Chain& chain, ThreadStacks* stacks) {
  const size_t first =
      (chain.hashes[chain.count - 1] * 0xD6E8FEB86659FD93u >> 40) & (kCacheSize - kWays);
  Remembered* const ways = &stacks->entries[first];
  for (size_t i = 0; i < kWays; ++i) {
    if (IsOf(ways[i], chain)) return &ways[i];
  }
  std::rotate(ways, ways + kWays - 1, ways + kWays);
  Resolve(chain, ways);
  return ways;
}

// True if the hook has seen every frame of the thread come and go since its stack was last read.
bool IsFollowed(const PyThreadState* thread) {
  return thread->c_profilefunc == hook.load(std::memory_order_relaxed) && thread->tracing == 0;
}

// Puts the innermost `count` frames, given innermost first, upon the first `kept_count` of the
// chain. True if that changed it.
bool Replace(const Frame* frames, const void* const* places, size_t count, size_t kept_count,
             Chain* chain) {
  bool is_changed = chain->count != kept_count + count;
  uint64_t hash = kept_count == 0 ? 0 : chain->hashes[kept_count - 1];
  for (size_t i = 0; i < count; ++i) {
    const Frame& frame = frames[count - 1 - i];
    const size_t at = kept_count + i;
    is_changed = is_changed || !Same(chain->frames[at], frame);
    hash = AddToHash(hash, frame);
    chain->frames[at] = frame;
    chain->places[at] = places[count - 1 - i];
    chain->hashes[at] = hash;
  }
  chain->count = kept_count + count;
  return is_changed;
}

// Each returns true if the chain is another one than before; its count is 0 if there are no frames.
bool ReadAll(PyThreadState* thread, Chain* chain) {
  Frame frames[kMaxFrames];
  const void* places[kMaxFrames];
  const size_t count = CurrentFrames(thread, frames, places, kMaxFrames);
  // The deepest stacks are cut at their outer end, so depths say nothing about them.
  chain->is_whole = count < kMaxFrames && IsFollowed(thread);
  return Replace(frames, places, count, 0, chain);
}

bool ReadMoved(PyThreadState* thread, FrameMoves moves, Chain* chain) {
  // A frame that others were called from has not moved on; the one that was lowest may have.
  const int64_t unmoved = static_cast<int64_t>(chain->count) + moves.lowest - 1;
  const int64_t moved = moves.depth - moves.lowest + 1;
  if (unmoved < 0 || unmoved + moved >= static_cast<int64_t>(kMaxFrames))
    return ReadAll(thread, chain);
  const auto kept_count = static_cast<size_t>(unmoved);
  const auto fresh = static_cast<size_t>(moved);
  Frame frames[kMaxFrames];
  const void* places[kMaxFrames];
  // One more than needed: it proves that the others are what they were.
  const size_t count = CurrentFrames(thread, frames, places, fresh + 1);
  const bool is_joined = kept_count == 0 ? count == fresh
                                         : count == fresh + 1 &&
                                               places[fresh] == chain->places[kept_count - 1] &&
                                               Same(frames[fresh], chain->frames[kept_count - 1]);
  return is_joined ? Replace(frames, places, fresh, kept_count, chain) : ReadAll(thread, chain);
}

// No frame was entered or left: only the innermost one may have gone on.
bool ReadInnermost(PyThreadState* thread, Chain* chain) {
  Frame frame;
  const void* place = nullptr;
  const size_t top = chain->count - 1;
  if (CurrentFrames(thread, &frame, &place, 1) != 1 || place != chain->places[top])
    return ReadAll(thread, chain);
  return !Same(frame, chain->frames[top]) && Replace(&frame, &place, 1, top, chain);
}

bool ReadChanged(PyThreadState* thread, Chain* chain) {
  const FrameMoves moves = frame_moves;
  frame_moves = {};
  if (!chain->is_whole || chain->count == 0 || !IsFollowed(thread)) return ReadAll(thread, chain);
  if (moves.depth == 0 && moves.lowest == 0) return ReadInnermost(thread, chain);
  return ReadMoved(thread, moves, chain);
}

}  // namespace

void BeginStacks(bool call_stacks, bool modules, Py_tracefunc the_hook) {
  want_stacks = call_stacks;
  want_modules = modules;
  hook = the_hook;
  ++epoch;
}

void EndStacks() {
  ++epoch;
  kept.Release();
}

void CurrentStack(sl_string* call_stack, sl_string* modules) {
  PyThreadState* thread = PyGILState_GetThisThreadState();
  if (!thread) return;
  ThreadStacks& stacks = OfThread();
  const bool is_changed = ReadChanged(thread, &stacks.chain);
  if (stacks.chain.count == 0) return;
  if (is_changed || !stacks.last) stacks.last = Find(stacks.chain, &stacks);
  *call_stack = stacks.last->call_stack;
  *modules = stacks.last->modules;
}

}  // namespace steplens::python
