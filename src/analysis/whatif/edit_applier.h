#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/facts/rank_view.h"
#include "analysis/whatif/edit.h"
#include "analysis/whatif/step_graph.h"

namespace steplens::analysis {

// The weights of a graph with edits. Edits are applied one after the other: factors on the same
// part multiply.
class EditApplier {
 public:
  EditApplier(const StepGraph& graph, std::span<const RankView> ranks);

  // Changes `weights`; returns the number of edges it changed.
  size_t Apply(const Edit& edit, std::vector<int64_t>& weights) const;

 private:
  bool Matches(const EditSelector& selector, const GraphNode& node, std::vector<int8_t>& known,
               uint32_t rank_index) const;
  bool HostMatches(const EditSelector& selector, const GraphNode& node, uint32_t rank_index,
                   std::vector<int8_t>& known) const;
  bool MatchesExactly(const EditSelector& selector, const GraphNode& node,
                      uint32_t rank_index) const;
  size_t Scale(const Edit& edit, std::vector<int64_t>& weights) const;
  size_t Overlap(const Edit& edit, std::vector<int64_t>& weights) const;
  size_t Balance(std::vector<int64_t>& weights) const;
  size_t BalanceRanks(std::span<const int64_t> late, std::vector<int64_t>& weights) const;

  const StepGraph& graph_;
  std::span<const RankView> ranks_;
};

}  // namespace steplens::analysis
