#include "stacks.h"

#include <array>
#include <atomic>
#include <string>

#include "frames.h"
#include "names.h"
#include "stack_tree.h"

namespace steplens::python {

constinit thread_local FrameMoves frame_moves;

namespace {

constexpr size_t kMaxFrames = 128;

std::atomic<uint64_t> epoch{0};
std::atomic<bool> want_stacks{false};
std::atomic<bool> want_modules{false};
std::atomic<Py_tracefunc> hook{nullptr};
KeptObjects kept;
FrameTexts frame_texts;  // guarded by the interpreter lock

// A frame of a stack. One cache line: the innermost one is looked at for every operator.
struct alignas(64) Link {
  Frame frame;
  const void* place;
  uint32_t node;  // of the stack up to here
};

// The frames of a thread when its stack was last asked for.
struct Chain {
  size_t count = 0;
  bool is_whole = false;               // has all frames, and the hook follows what becomes of them
  std::array<Link, kMaxFrames> links;  // outermost first

  const Link& top() const { return links[count - 1]; }
};

struct ThreadStacks {
  uint64_t epoch = 0;
  Chain chain;
  StackTree tree;
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

sl_string Intern(const std::string& text) {
  return text.empty() ? 0 : sl_intern(text.data(), text.size());
}

// Names the frames. Takes the interpreter lock, whether the thread has it or not.
StackTexts Resolve(const Chain& chain) {
  const PyGILState_STATE state = PyGILState_Ensure();
  std::string stack, modules;
  for (size_t i = chain.count; i-- > 0;) {
    const Frame& frame = chain.links[i].frame;
    kept.Keep(reinterpret_cast<PyObject*>(frame.code));
    if (!stack.empty()) stack += ';';
    stack += frame_texts.Get(frame);
    if (!frame.module) continue;
    kept.Keep(reinterpret_cast<PyObject*>(frame.module));
    if (!modules.empty()) modules.insert(0, 1, ';');
    modules.insert(0, ClassName(frame.module));
  }
  PyGILState_Release(state);
  return {want_stacks ? Intern(stack) : 0, want_modules ? Intern(modules) : 0, true};
}

// True if the hook has seen every frame of the thread come and go since its stack was last read.
bool IsFollowed(const PyThreadState* thread) {
  return thread->c_profilefunc == hook.load(std::memory_order_relaxed) && thread->tracing == 0;
}

// Puts the innermost `count` frames, given innermost first, upon the first `kept_count` of the
// chain.
void Replace(const Frame* frames, const void* const* places, size_t count, size_t kept_count,
             ThreadStacks* stacks) {
  Chain& chain = stacks->chain;
  uint32_t node = kept_count == 0 ? StackTree::kRoot : chain.links[kept_count - 1].node;
  for (size_t i = 0; i < count; ++i) {
    const Frame& frame = frames[count - 1 - i];
    node = stacks->tree.Below(node, frame);
    chain.links[kept_count + i] = {frame, places[count - 1 - i], node};
  }
  chain.count = kept_count + count;
}

// Each brings the chain up to date; its count is 0 if there are no frames.
void ReadAll(PyThreadState* thread, ThreadStacks* stacks) {
  Frame frames[kMaxFrames];
  const void* places[kMaxFrames];
  const size_t count = CurrentFrames(thread, frames, places, kMaxFrames);
  // The deepest stacks are cut at their outer end, so depths say nothing about them.
  stacks->chain.is_whole = count < kMaxFrames && IsFollowed(thread);
  if (stacks->tree.is_large()) stacks->tree.Clear();
  Replace(frames, places, count, 0, stacks);
}

void ReadMoved(PyThreadState* thread, FrameMoves moves, ThreadStacks* stacks) {
  const Chain& chain = stacks->chain;
  // A frame that others were called from has not moved on; the one that was lowest may have.
  const int64_t unmoved = static_cast<int64_t>(chain.count) + moves.lowest - 1;
  const int64_t moved = moves.depth - moves.lowest + 1;
  if (unmoved < 0 || unmoved + moved >= static_cast<int64_t>(kMaxFrames)) {
    return ReadAll(thread, stacks);
  }
  const auto kept_count = static_cast<size_t>(unmoved);
  const auto fresh = static_cast<size_t>(moved);
  Frame frames[kMaxFrames];
  const void* places[kMaxFrames];
  // One more than needed: it proves that the others are what they were.
  const size_t count = CurrentFrames(thread, frames, places, fresh + 1);
  const bool is_joined = kept_count == 0 ? count == fresh
                                         : count == fresh + 1 &&
                                               places[fresh] == chain.links[kept_count - 1].place &&
                                               frames[fresh] == chain.links[kept_count - 1].frame;
  return is_joined ? Replace(frames, places, fresh, kept_count, stacks) : ReadAll(thread, stacks);
}

// No frame was entered or left: only the innermost one may have gone on.
void ReadInnermost(PyThreadState* thread, ThreadStacks* stacks) {
  const Chain& chain = stacks->chain;
  Frame frame;
  const void* place = nullptr;
  if (CurrentFrames(thread, &frame, &place, 1) != 1 || place != chain.top().place) {
    return ReadAll(thread, stacks);
  }
  if (!(frame == chain.top().frame)) Replace(&frame, &place, 1, chain.count - 1, stacks);
}

void ReadChanged(PyThreadState* thread, ThreadStacks* stacks) {
  const FrameMoves moves = frame_moves;
  frame_moves = {};
  const Chain& chain = stacks->chain;
  if (!chain.is_whole || chain.count == 0 || !IsFollowed(thread) || stacks->tree.is_large()) {
    return ReadAll(thread, stacks);
  }
  if (moves.depth == 0 && moves.lowest == 0) return ReadInnermost(thread, stacks);
  return ReadMoved(thread, moves, stacks);
}

// Whether the thread's stack is `outer` as it was when it was last asked for. It was asked for by
// an operator that runs still, so the frame that called it has not gone on.
bool IsStillAt(sl_string outer, ThreadStacks* stacks) {
  const Chain& chain = stacks->chain;
  return chain.is_whole && chain.count != 0 && frame_moves.depth == 0 && frame_moves.lowest == 0 &&
         stacks->tree.texts(chain.top().node).call_stack == outer;
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
  frame_texts.Clear();
  kept.Release();
}

void CurrentStack(sl_string* call_stack, sl_string* modules) {
  ThreadStacks& stacks = OfThread();
  const Chain& chain = stacks.chain;
  if (*call_stack != 0 && IsStillAt(*call_stack, &stacks)) {
    *modules = stacks.tree.texts(chain.top().node).modules;
    return;
  }
  *call_stack = 0;
  PyThreadState* thread = PyGILState_GetThisThreadState();
  if (!thread) return;
  ReadChanged(thread, &stacks);
  if (chain.count == 0) return;
  StackTexts& texts = stacks.tree.texts(chain.top().node);
  if (__builtin_expect(!texts.are_known, 0)) texts = Resolve(chain);
  *call_stack = texts.call_stack;
  *modules = texts.modules;
}

}  // namespace steplens::python
