#include "export/single/memory_graph.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <unordered_map>

#include "analysis/operators/host_ops.h"
#include "analysis/time_math.h"
#include "export/single/tensor_text.h"

namespace steplens::exporting {
namespace {

using store::kNoId;
using store::kNone;
using store::TraceStore;

bool EqualIgnoreCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return lower(x) == lower(y);
  });
}

const store::DynamicTable* FindSheet(const TraceStore& store, std::string_view name) {
  for (const store::DynamicTable& sheet : store.sheets) {
    if (sheet.name == name) return &sheet;
  }
  return nullptr;
}

std::string_view SheetText(const TraceStore& store, const store::DynamicTable& sheet,
                           std::string_view column, size_t row) {
  for (const store::DynamicColumn& candidate : sheet.columns) {
    if (candidate.name == column && row < candidate.texts.size())
      return store.Text(candidate.texts[row]);
  }
  return {};
}

class GraphBuilder {
 public:
  GraphBuilder(const TraceStore& store, std::string_view device) : store_(store), device_(device) {}

  MemoryGraph Build() {
    AddBlocks();
    if (graph_.blocks.empty()) return {};
    AddNodes();
    AddTensors();
    AddParameters();
    for (auto* list :
         {&graph_.parameters, &graph_.gradients, &graph_.optimizer_states, &graph_.temporary})
      MakeUnique(*list);
    for (MemoryNode& node : graph_.nodes) {
      MakeUnique(node.inputs);
      MakeUnique(node.outputs);
      MakeUnique(node.written);
    }
    return std::move(graph_);
  }

 private:
  static void MakeUnique(std::vector<uint32_t>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }

  void AddBlocks() {
    const store::AllocationTable& table = store_.allocations;
    for (size_t i = 0; i < table.size(); ++i) {
      if (table.alloc_ns[i] == kNone || !EqualIgnoreCase(store_.Text(table.device[i]), device_))
        continue;
      graph_.blocks.push_back({table.address[i], table.alloc_ns[i], table.release_ns[i],
                               std::max<int64_t>(0, table.size_bytes[i])});
    }
    std::stable_sort(
        graph_.blocks.begin(), graph_.blocks.end(),
        [](const MemoryBlock& a, const MemoryBlock& b) { return a.alloc_ns < b.alloc_ns; });
    for (uint32_t i = 0; i < graph_.blocks.size(); ++i) {
      if (graph_.blocks[i].address != kNone) by_address_[graph_.blocks[i].address].push_back(i);
    }
  }

  // The block a tensor lives in at a time: the last one allocated there before. A tensor at an
  // address that was not allocated by then was there before the capture.
  uint32_t BlockOf(const RecordedTensor& tensor, int64_t ns) {
    const auto found = by_address_.find(tensor.storage);
    if (found != by_address_.end()) {
      uint32_t last = kNoId;
      for (const uint32_t block : found->second) {
        const MemoryBlock& candidate = graph_.blocks[block];
        const bool is_there = candidate.release_ns == kNone || ns <= candidate.release_ns;
        if (candidate.alloc_ns <= ns && is_there) last = block;
      }
      if (last != kNoId) return last;
    }
    if (!has_addresses()) return kNoId;
    const auto next = static_cast<uint32_t>(graph_.blocks.size());
    const auto [old, is_new] = preexisting_.try_emplace(tensor.storage, next);
    if (is_new) {
      // It ends, if it does, where its address is given away again.
      const int64_t end_ns =
          found == by_address_.end() ? kNone : graph_.blocks[found->second.front()].alloc_ns;
      graph_.blocks.push_back({tensor.storage, kNone, end_ns, tensor.size_bytes});
    }
    return old->second;
  }
  bool has_addresses() const { return !by_address_.empty(); }

  void AddNodes() {
    const analysis::HostOps computed = analysis::ComputeHostOps(store_);
    for (const analysis::HostOp& op : computed.ops) {
      const auto slice = static_cast<size_t>(op.slice);
      const std::string_view name = store_.Text(store_.slices.name[slice]);
      const bool is_backward = (op.detail != kNoId && store_.host_ops.fwd_thread[op.detail] > 0) ||
                               name.find("AccumulateGrad") != name.npos;
      if (IsFrame(name, is_backward)) continue;
      const bool is_inside = op.parent != store::kNoSlice && node_of_.contains(op.parent);
      if (is_inside) {
        node_of_[op.slice] = node_of_[op.parent];
        continue;
      }
      node_of_[op.slice] = static_cast<uint32_t>(graph_.nodes.size());
      MemoryNode& node = graph_.nodes.emplace_back();
      node.begin_ns = store_.slices.begin_ns[slice];
      node.end_ns = analysis::EndNs(node.begin_ns, store_.slices.dur_ns[slice]);
      node.is_backward = is_backward;
    }
    AssignBlocks();
  }

  // What only groups operators: steps, ranges of the optimiser, of the user and of the autograd
  // engine. Operators have a name space; those of the backward pass need none.
  static bool IsFrame(std::string_view name, bool is_backward) {
    if (name.starts_with("autograd::engine::")) return true;
    return !is_backward && name.find("::") == name.npos;
  }

  // Blocks that a node allocated are its outputs, or temporary.
  void AssignBlocks() {
    for (uint32_t i = 0; i < graph_.blocks.size(); ++i) {
      const MemoryBlock& block = graph_.blocks[i];
      auto node = std::upper_bound(
          graph_.nodes.begin(), graph_.nodes.end(), block.alloc_ns,
          [](int64_t ns, const MemoryNode& candidate) { return ns < candidate.begin_ns; });
      // Threads run side by side: the latest node that is still running has allocated it.
      constexpr int kLookBack = 16;
      for (int tries = 0; tries < kLookBack && node != graph_.nodes.begin(); ++tries) {
        --node;
        if (block.alloc_ns > node->end_ns) continue;
        const bool is_temporary = block.release_ns != kNone && block.release_ns <= node->end_ns;
        is_temporary ? graph_.temporary.push_back(i) : node->outputs.push_back(i);
        break;
      }
    }
  }

  void AddTensors() {
    const store::DynamicTable* sheet = FindSheet(store_, "framework_tensors");
    if (sheet == nullptr || sheet->columns.empty()) return;
    const store::DynamicColumn& slices = sheet->columns.front();
    for (size_t row = 0; row < sheet->size() && row < slices.numbers.size(); ++row) {
      const auto slice = static_cast<store::SliceId>(static_cast<uint32_t>(slices.numbers[row]));
      const auto node = node_of_.find(slice);
      if (node == node_of_.end()) continue;
      const auto i = static_cast<size_t>(slice);
      const std::string_view name = store_.Text(store_.slices.name[i]);
      const int64_t ns = store_.slices.begin_ns[i];
      std::vector<uint32_t> blocks;
      for (const std::string_view column : {"Input Tensors", "Tensor Lists"}) {
        for (const RecordedTensor& tensor : ParseTensors(SheetText(store_, *sheet, column, row))) {
          if (const uint32_t block = BlockOf(tensor, ns); block != kNoId) blocks.push_back(block);
        }
      }
      MemoryNode& of = graph_.nodes[node->second];
      // What the node has allocated itself is handed on among the operators inside it: no input.
      const auto was_there = [&](uint32_t block) {
        const int64_t alloc_ns = graph_.blocks[block].alloc_ns;
        return alloc_ns == kNone || alloc_ns < of.begin_ns;
      };
      std::copy_if(blocks.begin(), blocks.end(), std::back_inserter(of.inputs), was_there);
      // Operators whose names end with '_' write their first input.
      if (name.ends_with('_') && !blocks.empty()) {
        of.outputs.push_back(blocks.front());
        if (was_there(blocks.front())) of.written.push_back(blocks.front());
      }
      const bool takes_gradient = name == "aten::detach" || name == "aten::add_";
      if (takes_gradient && !blocks.empty() && IsInAccumulateGrad(slice))
        graph_.gradients.push_back(blocks.front());
    }
  }

  bool IsInAccumulateGrad(store::SliceId slice) {
    if (!parents_known_) {
      parents_known_ = true;
      for (const analysis::HostOp& op : analysis::ComputeHostOps(store_).ops)
        parent_of_[op.slice] = op.parent;
    }
    for (auto parent = parent_of_.find(slice); parent != parent_of_.end();
         parent = parent_of_.find(parent->second)) {
      if (parent->second == store::kNoSlice) return false;
      const auto name = store_.Text(store_.slices.name[static_cast<size_t>(parent->second)]);
      if (name.find("AccumulateGrad") != name.npos) return true;
    }
    return false;
  }

  void AddParameters() {
    const store::DynamicTable* sheet = FindSheet(store_, "framework_params");
    if (sheet == nullptr) return;
    RecordedParameters found;
    for (size_t row = 0; row < sheet->size(); ++row) {
      ParseModuleParameters(SheetText(store_, *sheet, "Module Parameters", row), found);
      ParseOptimizerParameters(SheetText(store_, *sheet, "Optimizer Parameters", row), found);
    }
    // They are written down at the end of the capture.
    const int64_t end_ns = store::ComputeExtent(store_).end_ns;
    const auto add = [&](const std::vector<RecordedTensor>& tensors, std::vector<uint32_t>& to) {
      for (const RecordedTensor& tensor : tensors) {
        if (const uint32_t block = BlockOf(tensor, end_ns); block != kNoId) to.push_back(block);
      }
    };
    add(found.parameters, graph_.parameters);
    add(found.gradients, graph_.gradients);
    add(found.states, graph_.optimizer_states);
  }

  const TraceStore& store_;
  std::string_view device_;
  MemoryGraph graph_;
  std::unordered_map<int64_t, std::vector<uint32_t>> by_address_;  // blocks by allocation
  std::map<int64_t, uint32_t> preexisting_;                        // address -> block
  std::unordered_map<store::SliceId, uint32_t> node_of_;
  std::unordered_map<store::SliceId, store::SliceId> parent_of_;
  bool parents_known_ = false;
};

}  // namespace

MemoryGraph BuildMemoryGraph(const TraceStore& store, std::string_view device) {
  return GraphBuilder(store, device).Build();
}

}  // namespace steplens::exporting
