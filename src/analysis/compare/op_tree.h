#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/compare/side.h"

namespace steplens::analysis::compare {

// A block of memory of the device.
struct MemoryRecord {
  std::string_view name;  // of the operator, unless the row is CANN's own
  bool keeps_name = false;
  int64_t size_bytes = 0;
  int64_t at_ns = 0;  // where on the host it belongs
  int64_t alloc_ns = 0;
  int64_t release_ns = store::kNone;
  int64_t dur_ns = 0;  // 0 if it lived on
};

// The blocks of a side, in the order of the input.
std::vector<MemoryRecord> CollectMemory(const Side& side, bool compat);

// The operators of a side as a tree. Node 0 is the root.
struct OpTree {
  struct Node {
    uint32_t op = store::kNoId;  // of Side::ops
    std::vector<uint32_t> children{};
    std::vector<uint32_t> memory{};  // of `memory`
    uint64_t kernel_count = 0;       // of the node and all below
  };
  std::vector<Node> nodes;
  std::vector<MemoryRecord> memory;

  // The nodes below the root, steps being replaced by what they hold; with a step of the side its
  // nodes alone. In order of begin.
  std::vector<uint32_t> top;
};

// An operator is inside the innermost one of its thread that was under way at its start. Under
// compat threads do not matter.
OpTree BuildOpTree(const Side& side, std::vector<MemoryRecord> memory, bool compat);

// The node and all below it, level by level.
std::vector<uint32_t> Subtree(const OpTree& tree, uint32_t node);

bool IsStepName(std::string_view name);

}  // namespace steplens::analysis::compare
