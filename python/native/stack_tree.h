// The call stacks a thread has had, as a tree: a node is a frame below the frame that called it.
#ifndef STEPLENS_PYTHON_STACK_TREE_H_
#define STEPLENS_PYTHON_STACK_TREE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "frames.h"
#include "steplens/collect.h"

namespace steplens::python {

// Of a whole stack.
struct StackTexts {
  sl_string call_stack = 0;
  sl_string modules = 0;
  bool are_known = false;
};

// Used by one thread. The objects frames point to must stay alive as long as the tree.
class StackTree {
 public:
  static constexpr uint32_t kRoot = 0;  // above the outermost frames

  StackTree() { Clear(); }

  // The node of `frame` called from `parent`, made if need be.
  uint32_t Below(uint32_t parent, const Frame& frame) {
    for (size_t at = Hash(parent, frame);; ++at) {
      uint32_t& slot = slots_[at & (slots_.size() - 1)];
      if (slot == kRoot) return Add(parent, frame, &slot);
      const Node& node = nodes_[slot];
      if (node.frame == frame && node.parent == parent) return slot;
    }
  }
  StackTexts& texts(uint32_t node) { return nodes_[node].texts; }

  // Whether it is time to Clear: some megabytes are in use.
  bool is_large() const { return nodes_.size() >= kLarge; }
  // Nodes handed out before are void.
  void Clear() {
    nodes_.assign(1, {});
    slots_.assign(kFirstSlots, kRoot);
  }

 private:
  struct Node {
    Frame frame;
    uint32_t parent;
    StackTexts texts;
  };

  static size_t Hash(uint32_t parent, const Frame& frame) {
    uint64_t hash = reinterpret_cast<uintptr_t>(frame.code) >> 4;
    hash = hash * 0x9E3779B97F4A7C15u + static_cast<uint64_t>(frame.instruction);
    hash = hash * 0x9E3779B97F4A7C15u + (uint64_t{parent} << 1) +
           (reinterpret_cast<uintptr_t>(frame.module) >> 4);
    return static_cast<size_t>(hash * 0xD6E8FEB86659FD93u >> 32);
  }

  __attribute__((noinline)) uint32_t Add(uint32_t parent, const Frame& frame, uint32_t* slot) {
    const auto node = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back({frame, parent, {}});
    *slot = node;
    if (nodes_.size() * 2 > slots_.size()) Rehash();
    return node;
  }

  void Rehash() {
    slots_.assign(slots_.size() * 2, kRoot);
    for (uint32_t node = 1; node < nodes_.size(); ++node) {
      size_t at = Hash(nodes_[node].parent, nodes_[node].frame);
      while (slots_[at & (slots_.size() - 1)] != kRoot) ++at;
      slots_[at & (slots_.size() - 1)] = node;
    }
  }

  static constexpr size_t kFirstSlots = 1024;  // a power of two
  static constexpr size_t kLarge = 1 << 16;

  std::vector<Node> nodes_;
  std::vector<uint32_t> slots_;  // nodes by hash; kRoot: free
};

}  // namespace steplens::python

#endif
