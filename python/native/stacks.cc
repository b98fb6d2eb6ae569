#include "stacks.h"

#include <array>
#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "frames.h"
#include "names.h"

namespace steplens::python {
namespace {

constexpr size_t kMaxFrames = 128;
constexpr size_t kCacheSize = 512;  // stacks a thread remembers; a power of two

std::atomic<uint64_t> epoch{0};
std::atomic<bool> want_stacks{false};
std::atomic<bool> want_modules{false};
KeptObjects kept;

struct Remembered {
  std::vector<Frame> frames;
  sl_string call_stack = 0;
  sl_string modules = 0;
};
struct ThreadStacks {
  uint64_t epoch = 0;
  const Remembered* last =
      nullptr;  // operators inside operators have the same stack, as those in a loop do
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

size_t SlotOf(const Frame* frames, size_t count) {
  uint64_t hash = count;
  for (size_t i = 0; i < count; ++i) {
    hash = (hash ^ reinterpret_cast<uintptr_t>(frames[i].code)) * 0x9E3779B97F4A7C15u;
    hash ^= static_cast<uint64_t>(frames[i].instruction) ^
            reinterpret_cast<uintptr_t>(frames[i].module) ^ (hash >> 29);
  }
  hash *= 0xD6E8FEB86659FD93u;
  return (hash >> 40) & (kCacheSize - 1);
}

bool Same(const Remembered& entry, const Frame* frames, size_t count) {
  if (entry.frames.size() != count) return false;
  for (size_t i = 0; i < count; ++i) {
    const Frame &a = entry.frames[i], &b = frames[i];
    if (a.code != b.code || a.instruction != b.instruction || a.module != b.module) return false;
  }
  return true;
}

sl_string Intern(const std::string& text) {
  return text.empty() ? 0 : sl_intern(text.data(), text.size());
}

// Names the frames. Takes the interpreter lock, whether the thread has it or not.
void Resolve(const Frame* frames, size_t count, Remembered* out) {
  const PyGILState_STATE state = PyGILState_Ensure();
  std::string stack, modules;
  for (size_t i = 0; i < count; ++i) {
    const Frame& frame = frames[i];
    kept.Keep(reinterpret_cast<PyObject*>(frame.code));
    if (i > 0) stack += ';';
    stack += FrameText(frame.code, frame.instruction);
    if (!frame.module) continue;
    kept.Keep(reinterpret_cast<PyObject*>(frame.module));
    modules = modules.empty() ? ClassName(frame.module) : ClassName(frame.module) + ";" + modules;
  }
  PyGILState_Release(state);
  out->frames.assign(frames, frames + count);
  out->call_stack = want_stacks ? Intern(stack) : 0;
  out->modules = want_modules ? Intern(modules) : 0;
}

}  // namespace

void BeginStacks(bool call_stacks, bool modules) {
  want_stacks = call_stacks;
  want_modules = modules;
  ++epoch;
}

void EndStacks() {
  ++epoch;
  kept.Release();
}

void CurrentStack(sl_string* call_stack, sl_string* modules) {
  Frame frames[kMaxFrames];
  const size_t count = CurrentFrames(frames, kMaxFrames);
  if (count == 0) return;
  ThreadStacks& stacks = OfThread();
  if (!stacks.last || !Same(*stacks.last, frames, count)) {
    Remembered& entry = stacks.entries[SlotOf(frames, count)];
    if (!Same(entry, frames, count)) Resolve(frames, count, &entry);
    stacks.last = &entry;
  }
  *call_stack = stacks.last->call_stack;
  *modules = stacks.last->modules;
}

}  // namespace steplens::python
