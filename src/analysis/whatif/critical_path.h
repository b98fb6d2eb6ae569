#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/facts/rank_view.h"
#include "analysis/whatif/step_graph.h"

namespace steplens::analysis {

// A stretch of the critical path: one node, or the time between two.
struct PathPiece {
  PathClass path_class = PathClass::kHost;
  uint32_t node = 0;
  int64_t begin_ns = 0;  // from the begin of the window
  int64_t dur_ns = 0;
};

// Stretches that follow each other on one thread or stream.
struct PathChain {
  uint32_t lane = 0;
  int64_t begin_ns = 0;
  int64_t dur_ns = 0;
  size_t first = 0;  // pieces [first, last]
  size_t last = 0;
};

struct CriticalPath {
  std::vector<PathPiece> pieces;  // by time; those without a duration are left out
  std::vector<uint32_t> edges;    // all edges of the path, the first one first
  std::array<int64_t, kPathClasses> class_ns{};
  int64_t total_ns = 0;  // the sum of the pieces
  std::vector<PathChain> chains() const;

  const StepGraph* graph = nullptr;
};

// The chain of nodes that nothing could have shortened but themselves: the one that ends last, back
// to the begin of the window. `weights` and `at` are those of a replay.
CriticalPath FindCriticalPath(const StepGraph& graph, std::span<const int64_t> weights,
                              const std::vector<int64_t>& at);

// By node: how much longer it could have taken without the window ending later. Those that nothing
// of the window waits for have as much as is left of it.
std::vector<int64_t> SlackOf(const StepGraph& graph, std::span<const int64_t> weights,
                             const std::vector<int64_t>& at);

}  // namespace steplens::analysis
