#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/advice/settings.h"

namespace steplens::analysis {

// A compiled graph: operators and who feeds whom.
struct CompiledGraph {
  struct Node {
    std::string name;
    std::string type;
    std::vector<uint32_t> to{};    // nodes that take an output
    std::vector<uint32_t> from{};  // nodes whose outputs it takes
  };
  std::string name;
  std::vector<Node> nodes;
};

// The graph of a dump (*Build.txt, protobuf text). Lines that are not understood are skipped.
CompiledGraph ParseGraphDump(std::string_view text);

// "MatMul|MatMulV2>Mul": a chain; several, with commas between, share the nodes that are written
// alike, and "Slice#1" and "Slice#2" are two nodes of one type.
FusionPattern ParseFusionPattern(std::string pass, std::string_view text);

// What the compiler of graphs is known to fuse.
const std::vector<FusionPattern>& KnownFusionPasses();

// Where a pattern is in a graph: a node for each of its nodes, with exactly its edges between them.
// Each set of nodes comes once.
std::vector<std::vector<uint32_t>> MatchPattern(const CompiledGraph& graph,
                                                const FusionPattern& pattern);

}  // namespace steplens::analysis
