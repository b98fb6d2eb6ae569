#include "torch_adapter/thread_ops.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace steplens::torch_adapter {

// A plain pointer is what the hot path reads; the owner ends it with the thread.
constinit thread_local ThreadOps* thread_ops = nullptr;

namespace {

constexpr uint32_t kFirstOps = 32;
constexpr uint32_t kMaxOps = 1 << 20;

thread_local bool thread_ended = false;
struct Owner {
  std::unique_ptr<ThreadOps> ops{new (std::nothrow) ThreadOps};
  ~Owner() {
    thread_ops = nullptr;
    thread_ended = true;
  }
};

}  // namespace

ThreadOps* MakeThreadOps() {
  if (thread_ended) return nullptr;
  thread_local Owner owner;
  thread_ops = owner.ops.get();
  return thread_ops;
}

ThreadOps::~ThreadOps() { std::free(ops_); }

bool ThreadOps::Grow() {
  if (capacity_ >= kMaxOps) return false;
  const uint32_t wanted = std::max(capacity_ * 2, kFirstOps);
  void* memory = std::aligned_alloc(alignof(OpenOp), wanted * sizeof(OpenOp));
  if (!memory) return false;
  if (depth_ > 0) std::memcpy(memory, ops_, depth_ * sizeof(OpenOp));
  std::free(ops_);
  ops_ = static_cast<OpenOp*>(memory);
  capacity_ = wanted;
  return true;
}

OpenOp* ThreadOps::PopAny(const void* function) {
  for (uint32_t at = depth_; at-- > 0;) {
    if (ops_[at].function != function) continue;
    depth_ = at;
    return &ops_[at];
  }
  return nullptr;
}

void ThreadOps::CatchUp(uint64_t present_versions) {
  if (versions == present_versions) return;
  names.Forget();
  const bool is_new_capture = !IsOf(present_versions);
  versions = present_versions;
  if (!is_new_capture) return;
  depth_ = 0;
  node = kNoNode;
  words.Truncate(0);
}

}  // namespace steplens::torch_adapter
