#include "export/single/memory_categories.h"

#include <algorithm>

namespace steplens::exporting {
namespace {

class Categoriser {
 public:
  explicit Categoriser(const MemoryGraph& graph)
      : graph_(graph), categories_(graph.blocks.size(), MemoryCategory::kUnknown) {}

  std::vector<MemoryCategory> Run() {
    SetAll(graph_.gradients, MemoryCategory::kGradient);
    SetAll(graph_.temporary, MemoryCategory::kTemporary);
    SetAll(graph_.parameters, MemoryCategory::kParameter);
    FindFlow();
    SetInputsAndParameters();
    SetActivations();
    SetAll(graph_.optimizer_states, MemoryCategory::kOptimizerState);
    for (const MemoryNode& node : graph_.nodes) {
      if (node.is_backward) SetAll(node.outputs, MemoryCategory::kAutogradDetail);
    }
    return std::move(categories_);
  }

 private:
  void Set(uint32_t block, MemoryCategory category) {
    if (categories_[block] == MemoryCategory::kUnknown) categories_[block] = category;
  }
  void SetAll(const std::vector<uint32_t>& blocks, MemoryCategory category) {
    for (const uint32_t block : blocks) Set(block, category);
  }
  static bool Any(const std::vector<uint32_t>& blocks, const std::vector<bool>& set) {
    return std::any_of(blocks.begin(), blocks.end(), [&](uint32_t block) { return set[block]; });
  }
  static bool AddAll(const std::vector<uint32_t>& blocks, std::vector<bool>& set) {
    bool is_new = false;
    for (const uint32_t block : blocks) {
      is_new = is_new || !set[block];
      set[block] = true;
    }
    return is_new;
  }

  // What gradients are made of, and what is made of gradients: over updates of parameters this
  // reaches the forward pass again, so it is repeated until nothing changes.
  void FindFlow() {
    feeds_gradient_.assign(graph_.blocks.size(), false);
    depends_on_gradient_.assign(graph_.blocks.size(), false);
    for (size_t i = 0; i < categories_.size(); ++i)
      feeds_gradient_[i] = depends_on_gradient_[i] = categories_[i] == MemoryCategory::kGradient;
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) {
      if (Any(node->outputs, feeds_gradient_)) AddAll(node->inputs, feeds_gradient_);
    }
    for (bool is_changing = true; is_changing;) {
      is_changing = false;
      for (const MemoryNode& node : graph_.nodes) {
        if (Any(node.inputs, depends_on_gradient_))
          is_changing |= AddAll(node.outputs, depends_on_gradient_);
      }
    }
  }

  void SetInputsAndParameters() {
    std::vector<bool> made_forward(graph_.blocks.size(), false);
    std::vector<bool> made_backward(graph_.blocks.size(), false);
    for (const MemoryNode& node : graph_.nodes) {
      for (const uint32_t block : node.outputs) {
        const bool is_update =
            std::find(node.inputs.begin(), node.inputs.end(), block) != node.inputs.end();
        if (!is_update) (node.is_backward ? made_backward : made_forward)[block] = true;
      }
    }
    for (uint32_t i = 0; i < categories_.size(); ++i) {
      if (feeds_gradient_[i] && !made_backward[i] && !depends_on_gradient_[i])
        Set(i, MemoryCategory::kInput);
    }
    for (const MemoryNode& node : graph_.nodes) {
      if (node.is_backward) continue;
      for (const uint32_t block : node.inputs) {
        if (feeds_gradient_[block] && depends_on_gradient_[block] && !made_forward[block] &&
            !made_backward[block])
          Set(block, MemoryCategory::kParameter);
      }
    }
  }

  void SetActivations() {
    for (const MemoryNode& node : graph_.nodes) {
      if (node.is_backward || node.inputs.empty()) continue;
      bool has_source = false;
      const bool fits = std::all_of(node.inputs.begin(), node.inputs.end(), [&](uint32_t block) {
        const MemoryCategory category = categories_[block];
        const bool is_source =
            category == MemoryCategory::kInput || category == MemoryCategory::kActivation;
        has_source = has_source || is_source;
        return is_source || category == MemoryCategory::kParameter ||
               category == MemoryCategory::kTemporary;
      });
      if (fits && has_source) SetAll(node.outputs, MemoryCategory::kActivation);
    }
  }

  const MemoryGraph& graph_;
  std::vector<MemoryCategory> categories_;
  std::vector<bool> feeds_gradient_;
  std::vector<bool> depends_on_gradient_;
};

}  // namespace

std::vector<MemoryCategory> CategoriseMemory(const MemoryGraph& graph) {
  return Categoriser(graph).Run();
}

}  // namespace steplens::exporting
