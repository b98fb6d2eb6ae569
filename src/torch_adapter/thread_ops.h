// What a thread keeps of operators: those that run, their inputs, and names it met.
#ifndef STEPLENS_TORCH_ADAPTER_THREAD_OPS_H_
#define STEPLENS_TORCH_ADAPTER_THREAD_OPS_H_

#include <steplens/collect.h>

#include <cstdint>
#include <cstring>

#include "torch_adapter/inputs.h"
#include "torch_adapter/text_cache.h"

namespace steplens::torch_adapter {

inline constexpr uint32_t kNoNode = ~0u;

// An operator that runs and will end on the thread it started on. One cache line: between an
// operator's start and its end the framework has pushed everything out of the nearest cache.
// So what is only needed while it runs takes the places of what its record has to have at its end.
struct alignas(64) OpenOp {
  sl_plain_op record;    // all but its end
  const void* function;  // tells operators apart, never followed

  // Its own call stack or, if it has none, that of what is around it; and the first word of its
  // inputs.
  sl_string stack() const { return static_cast<sl_string>(record.end); }
  uint32_t first_word() const { return static_cast<uint32_t>(record.end >> 32); }
  void SetPlaces(sl_string stack, uint32_t first_word) {
    record.end = uint64_t{first_word} << 32 | stack;
  }

  // Whether it is a node, and what ThreadOps::node was before it.
  bool is_node() const { return record.reserved[4] != 0; }
  uint32_t outer_node() const {
    uint32_t node;
    std::memcpy(&node, record.reserved, sizeof(node));
    return node;
  }
  void SetNode(bool is_node, uint32_t outer_node) {
    std::memcpy(record.reserved, &outer_node, sizeof(outer_node));
    record.reserved[4] = is_node ? 1 : 0;
  }
};
static_assert(sizeof(OpenOp) == 64 && sizeof(sl_string) == 4);

// Touched by its thread only. What every operator needs comes first, in one cache line.
class alignas(64) ThreadOps {
 public:
  ThreadOps() = default;
  ThreadOps(const ThreadOps&) = delete;
  ThreadOps& operator=(const ThreadOps&) = delete;
  ~ThreadOps();

  uint32_t epoch = 0;       // the capture that the operators below belong to
  uint32_t schemas = 0;     // the state of the framework's operators that `names` was made from
  uint32_t node = kNoNode;  // the innermost node of the autograd engine that is evaluated

  bool empty() const { return depth_ == 0; }
  OpenOp& at(uint32_t depth) { return ops_[depth]; }
  uint32_t depth() const { return depth_; }

  // The place of one more, not filled; nullptr: no memory.
  OpenOp* Push() {
    if (__builtin_expect(depth_ == capacity_, 0) && !Grow()) return nullptr;
    return &ops_[depth_++];
  }
  // The innermost if it is `function`'s; those inside one that ends are over as well. nullptr: none
  // is. Valid until the next Push.
  OpenOp* Pop(const void* function) {
    if (__builtin_expect(depth_ != 0 && ops_[depth_ - 1].function == function, 1)) {
      return &ops_[--depth_];
    }
    return PopOuter(function);
  }
  // A new capture begins.
  void Forget(uint32_t new_epoch);

 private:
  bool Grow();
  OpenOp* PopOuter(const void* function);

  OpenOp* ops_ = nullptr;
  uint32_t depth_ = 0;
  uint32_t capacity_ = 0;

 public:
  Words words;  // inputs of the operators that run, outermost first
  NameCache names;
  const uint64_t thread = sl_thread();
};

extern constinit thread_local ThreadOps* thread_ops;

// Makes what the calling thread lacks; nullptr when the thread ends or there is no memory.
ThreadOps* MakeThreadOps();

// Of the calling thread. Operators that still run when it ends (static destructors) find none and
// are not recorded.
inline ThreadOps* OpsOfThread() { return thread_ops ? thread_ops : MakeThreadOps(); }

}  // namespace steplens::torch_adapter

#endif
