#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "store/trace_store.h"

namespace steplens::exporting {

// A block of memory of one device, from its allocation to its release.
struct MemoryBlock {
  int64_t address = store::kNone;     // kNone where it is not recorded
  int64_t alloc_ns = store::kNone;    // kNone: it was there before the capture
  int64_t release_ns = store::kNone;  // kNone: it lived on
  int64_t size_bytes = 0;
};

// A leaf of the run: a top-most operator, with the blocks it touches as rows of `blocks`.
struct MemoryNode {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  bool is_backward = false;
  std::vector<uint32_t> inputs;        // of its tensors
  std::vector<uint32_t> outputs;       // allocated during it and still there at its end, or written
  std::vector<uint32_t> written = {};  // what was there before it and is written by it
};

// What the categories are decided by. Facts the store lacks are simply not in it: without recorded
// tensors nodes have no inputs.
struct MemoryGraph {
  std::vector<MemoryBlock> blocks;   // by allocation; those from before the capture last
  std::vector<MemoryNode> nodes;     // by start
  std::vector<uint32_t> temporary;   // allocated and released inside one node
  std::vector<uint32_t> parameters;  // of modules and optimisers
  std::vector<uint32_t> gradients;   // theirs, and those an AccumulateGrad operator receives
  std::vector<uint32_t> optimizer_states;
};

// `device` is "cpu", "npu:0" and the like, any case.
MemoryGraph BuildMemoryGraph(const store::TraceStore& store, std::string_view device);

}  // namespace steplens::exporting
