#include "base/yaml.h"

#include <gtest/gtest.h>

namespace steplens {
namespace {

TEST(ParseYaml, ReadsBlocksAndFlows) {
  const Result<YamlNode> root = ParseYaml(
      "# a comment\n"
      "a:\n"
      "  b: 1\n"
      "  c: ['x, y', z]\n"
      "list:\n"
      "- name: one   # and another\n"
      "  value: {k: v}\n"
      "- two\n",
      "f");
  ASSERT_TRUE(root.ok()) << root.error().message;
  const YamlNode* a = root->Find("a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->Find("b")->scalar, "1");
  EXPECT_EQ(a->Find("b")->line, 3);
  ASSERT_EQ(a->Find("c")->items.size(), 2u);
  EXPECT_EQ(a->Find("c")->items[0].scalar, "x, y");
  const YamlNode* list = root->Find("list");
  ASSERT_EQ(list->items.size(), 2u);
  EXPECT_EQ(list->items[0].Find("value")->Find("k")->scalar, "v");
  EXPECT_EQ(list->items[0].Find("value")->line, 7);
  EXPECT_EQ(list->items[1].scalar, "two");
}

TEST(ParseYaml, ReadsJson) {
  const Result<YamlNode> root =
      ParseYaml("{\"a\": {\"b\":\n [1, true, null]\n}, \"c\": \"d\"}\n", "f");
  ASSERT_TRUE(root.ok()) << root.error().message;
  const YamlNode* b = root->Find("a")->Find("b");
  ASSERT_EQ(b->items.size(), 3u);
  EXPECT_EQ(b->items[0].line, 2);
  EXPECT_EQ(b->items[2].kind, YamlNode::Kind::kNull);
  EXPECT_EQ(root->Find("c")->scalar, "d");
}

TEST(ParseYaml, NamesTheLineOfAMistake) {
  for (const auto& [text, message] :
       {std::pair("a: 1\na: 2\n", "f:2: 'a' appears twice"),
        std::pair("a: [1,\n 2\n", "f:3: end of sequence flow not found"),
        std::pair("a: 1\n  b: 2\n", "f:2: illegal map value"),
        std::pair("[1, 2]: 3\n", "f:1: a key is not a single word")}) {
    const Result<YamlNode> root = ParseYaml(text, "f");
    ASSERT_FALSE(root.ok()) << text;
    EXPECT_EQ(root.error().message, message);
  }
}

TEST(ParseYaml, EndsAtItsDepth) { EXPECT_FALSE(ParseYaml(std::string(1000, '['), "f").ok()); }

}  // namespace
}  // namespace steplens
