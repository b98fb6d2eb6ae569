// What a thread keeps of operators: those that run, their inputs, and names it met.
#ifndef STEPLENS_TORCH_ADAPTER_THREAD_OPS_H_
#define STEPLENS_TORCH_ADAPTER_THREAD_OPS_H_

#include <steplens/collect.h>

#include <bit>
#include <cstddef>
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
  // The last word of the record, at once: scope, is_async (0), with_tensors, and the two above.
  void SetLast(uint8_t scope, bool with_tensors, bool is_node, uint32_t outer_node) {
    const uint64_t word =
        scope | uint64_t{with_tensors} << 16 | uint64_t{outer_node} << 24 | uint64_t{is_node} << 56;
    std::memcpy(reinterpret_cast<char*>(this) + offsetof(sl_plain_op, scope), &word, sizeof(word));
  }
};
static_assert(sizeof(OpenOp) == 64 && sizeof(sl_string) == 4);
static_assert(offsetof(OpenOp, record) == 0 && offsetof(sl_plain_op, reserved) == 51 &&
              offsetof(OpenOp, function) == 56);
static_assert(std::endian::native == std::endian::little);  // the word of SetLast

// Touched by its thread only. What every operator needs comes first, in one cache line.
class alignas(64) ThreadOps {
 public:
  ThreadOps() = default;
  ThreadOps(const ThreadOps&) = delete;
  ThreadOps& operator=(const ThreadOps&) = delete;
  ~ThreadOps();

  // Above: the capture that the operators below belong to. Below: the state of the framework's
  // operators that `names` was made from.
  uint64_t versions = 0;
  uint32_t node = kNoNode;  // the innermost node of the autograd engine that is evaluated

  bool empty() const { return depth_ == 0; }
  OpenOp& at(uint32_t depth) { return ops_[depth]; }
  uint32_t depth() const { return depth_; }

  bool has_room() const { return depth_ < capacity_; }
  // Room for one more; false: no memory, or there are too many.
  bool Grow();

  // The place of one more, not filled; there is room.
  OpenOp* Push() { return &ops_[depth_++]; }
  // Takes the innermost away; valid until the next Push.
  void Pop() { --depth_; }
  // Takes the one of `function` away and all inside it, which are over as well. nullptr: there is
  // none.
  OpenOp* PopAny(const void* function);
  // Whether the operators here are of the present capture.
  bool IsOf(uint64_t present_versions) const { return (versions ^ present_versions) >> 32 == 0; }
  // Forgets what belongs to another capture, or to operators that the framework had before.
  void CatchUp(uint64_t present_versions);

 private:
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
