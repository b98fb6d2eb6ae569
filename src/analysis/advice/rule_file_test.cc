#include "analysis/advice/rule_file.h"

#include <gtest/gtest.h>

namespace steplens::analysis {
namespace {

TEST(AddRuleFile, ChangesThresholdsAndTables) {
  RuleSettings settings;
  const Status added = AddRuleFile(
      "memory_calls:\n"
      "  thresholds: {total_us: 5000}\n"
      "gc: {enabled: false}\n"
      "affinity:\n"
      "- {words: 'softmax mul?', by: mine, note: fp16}\n"
      "chips:\n"
      "  Ascend910B: {ai_core_num: 20, aiv_num: 40}\n",
      "f", settings);
  ASSERT_TRUE(added.ok()) << added.error().message;
  EXPECT_EQ(settings.thresholds.memory_calls_total_us, 5000);
  EXPECT_TRUE(settings.disabled.contains("gc"));
  ASSERT_EQ(settings.affinity.size(), 1u);
  EXPECT_EQ(settings.affinity[0].by, "mine");
  EXPECT_EQ(settings.chips.at("Ascend910B").vector, 40);
}

TEST(AddRuleFile, SetsPrioritiesThatAreKnown) {
  RuleSettings settings;
  ASSERT_TRUE(AddRuleFile("gc: {priority: high}\n", "f", settings).ok());
  EXPECT_EQ(settings.priorities.at("gc"), "high");
  EXPECT_EQ(AddRuleFile("gc:\n  priority: urgent\n", "f", settings).error().message,
            "f:2: 'urgent' was found, high, medium or low was expected");
  EXPECT_EQ(AddRuleFile("gc:\n  thresholds: {pause_us: nan}\n", "f", settings).error().message,
            "f:2: 'nan' was found, a number of 0 or more was expected");
  EXPECT_EQ(AddRuleFile("chips: 24\n", "f", settings).error().message,
            "f:1: a map of chips was expected");
}

TEST(AddRuleFile, LeavesTheSettingsAloneAfterAMistake) {
  RuleSettings settings;
  const Status added = AddRuleFile(
      "gc: {enabled: false}\nmemory_calls: {thresholds: {total_us: -1}}\n", "f", settings);
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().message, "f:2: '-1' was found, a number of 0 or more was expected");
  EXPECT_TRUE(settings.disabled.empty());
}

TEST(AddRuleFile, TakesGraphPassesAsTheyAreWritten) {
  RuleSettings settings;
  const Status added = AddRuleFile(
      "GraphFusion:\n"
      "- Chain:\n"
      "    version: 0\n"
      "    struct: [Conv2D, [Relu, ReluV2]]\n"
      "UBFusion:\n"
      "- Graph:\n"
      "    version: 1\n"
      "    nodes:\n"
      "    - node_0: [A]\n"
      "    - node_1: [B, C]\n"
      "    edges:\n"
      "    - [node_0, node_1]\n",
      "f", settings);
  ASSERT_TRUE(added.ok()) << added.error().message;
  ASSERT_EQ(settings.graph.size(), 2u);
  EXPECT_EQ(settings.graph[0].types[1], (std::vector<std::string>{"Relu", "ReluV2"}));
  EXPECT_EQ(settings.graph[1].edges, (std::vector<std::pair<size_t, size_t>>{{0, 1}}));
}

}  // namespace
}  // namespace steplens::analysis
