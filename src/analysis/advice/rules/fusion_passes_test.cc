#include "analysis/advice/rules/fusion_passes.h"

#include <gtest/gtest.h>

namespace steplens::analysis {
namespace {

CompiledGraph GraphOf(std::initializer_list<std::pair<const char*, const char*>> nodes,
                      std::initializer_list<std::pair<const char*, const char*>> edges) {
  std::string text = "graph {\n  name: \"g\"\n";
  for (const auto& [name, type] : nodes) {
    text += std::string("  op {\n    name: \"") + name + "\"\n    type: \"" + type + "\"\n";
    for (const auto& [from, to] : edges) {
      if (std::string(to) == name) text += std::string("    input: \"") + from + ":0\"\n";
    }
    text += "    output_desc {\n      shape {\n        dim: 16\n      }\n    }\n  }\n";
  }
  return ParseGraphDump(text + "}\n");
}

TEST(ParseGraphDump, TakesOperatorsAndWhoFeedsWhom) {
  const CompiledGraph graph = GraphOf({{"a", "Data"}, {"b", "Relu"}}, {{"a", "b"}, {"a", "b"}});
  EXPECT_EQ(graph.name, "g");
  ASSERT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(graph.nodes[0].to, (std::vector<uint32_t>{1}));
  EXPECT_EQ(graph.nodes[1].from, (std::vector<uint32_t>{0}));
}

TEST(MatchPattern, FindsAChainInAnyCase) {
  const FusionPattern pattern = ParseFusionPattern("p", "Conv2D>ReluV2|Relu");
  const CompiledGraph graph =
      GraphOf({{"c", "conv2d"}, {"r", "Relu"}, {"s", "Softmax"}}, {{"c", "r"}, {"r", "s"}});
  EXPECT_EQ(MatchPattern(graph, pattern), (std::vector<std::vector<uint32_t>>{{0, 1}}));
}

// The quantisation pass has a node with two edges into the part that was matched before it.
TEST(MatchPattern, FindsANodeThatTwoOthersFeed) {
  const FusionPattern pattern = ParseFusionPattern("p", "Conv>Sigmoid>Mul>Quant, Conv>Mul");
  const auto nodes = {std::pair("c", "Conv"), std::pair("s", "Sigmoid"), std::pair("m", "Mul"),
                      std::pair("q", "Quant")};
  const CompiledGraph with = GraphOf(nodes, {{"c", "s"}, {"c", "m"}, {"s", "m"}, {"m", "q"}});
  EXPECT_EQ(MatchPattern(with, pattern), (std::vector<std::vector<uint32_t>>{{0, 1, 2, 3}}));
  const CompiledGraph without = GraphOf(nodes, {{"c", "s"}, {"s", "m"}, {"m", "q"}});
  EXPECT_TRUE(MatchPattern(without, pattern).empty());
}

// a > b > c and a > c: a chain of three has no edge from its first to its last node.
TEST(MatchPattern, AllowsNoOtherEdges) {
  const FusionPattern pattern = ParseFusionPattern("p", "Cast#1>Relu>Cast#2");
  const auto nodes = {std::pair("a", "Cast"), std::pair("b", "Relu"), std::pair("c", "Cast")};
  EXPECT_EQ(MatchPattern(GraphOf(nodes, {{"a", "b"}, {"b", "c"}}), pattern).size(), 1u);
  EXPECT_TRUE(MatchPattern(GraphOf(nodes, {{"a", "b"}, {"b", "c"}, {"a", "c"}}), pattern).empty());
}

// Two slices feed one concat: which of them is the first does not matter.
TEST(MatchPattern, GivesEachSetOfNodesOnce) {
  const FusionPattern pattern =
      ParseFusionPattern("p", "StridedSliceD#1>ConcatD, StridedSliceD#2>ConcatD");
  const CompiledGraph graph = GraphOf(
      {{"a", "StridedSliceD"}, {"b", "StridedSliceD"}, {"c", "ConcatD"}}, {{"a", "c"}, {"b", "c"}});
  EXPECT_EQ(MatchPattern(graph, pattern).size(), 1u);
}

TEST(KnownFusionPasses, HaveTwoNodesAndAnEdgeAtLeast) {
  EXPECT_GE(KnownFusionPasses().size(), 60u);
  for (const FusionPattern& pass : KnownFusionPasses()) {
    EXPECT_GE(pass.types.size(), 2u) << pass.pass;
    EXPECT_GE(pass.edges.size(), 1u) << pass.pass;
    for (const auto& [from, to] : pass.edges) EXPECT_NE(from, to) << pass.pass;
  }
}

}  // namespace
}  // namespace steplens::analysis
