#include "mcp/session.h"

#include <gtest/gtest.h>

#include <set>

#include "mcp/tool.h"

namespace steplens::mcp {
namespace {

JsonDocument AnswerTo(std::string_view line) {
  Session session({.captures = {.roots = {"/"}, .use_cache = false, .version = "1"}});
  Result<JsonDocument> answer = JsonDocument::Parse(session.AnswerLine(line), "answer");
  EXPECT_TRUE(answer.ok());
  return *std::move(answer);
}

int64_t CodeOf(std::string_view line) {
  return AnswerTo(line).root()["error"]["code"].AsInt().value_or(0);
}

TEST(McpSession, RepeatsTheIdAsItCame) {
  EXPECT_EQ(AnswerTo(R"({"jsonrpc":"2.0","id":"a\"b","method":"ping"})").root()["id"].AsString(),
            "a\"b");
  EXPECT_EQ(AnswerTo(R"({"jsonrpc":"2.0","id":-7,"method":"ping"})").root()["id"].AsInt(), -7);
}

TEST(McpSession, SaysWhatIsWrongWithAMessage) {
  EXPECT_EQ(CodeOf("{"), -32700);
  EXPECT_EQ(CodeOf("[]"), -32600);
  EXPECT_EQ(CodeOf(R"({"jsonrpc":"1.0","id":1,"method":"ping"})"), -32600);
  EXPECT_EQ(CodeOf(R"({"jsonrpc":"2.0","id":null,"method":"ping"})"), -32600);
  EXPECT_EQ(CodeOf(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":7})"), -32602);
  EXPECT_EQ(CodeOf(R"({"jsonrpc":"2.0","id":1,"method":"pong"})"), -32601);
}

TEST(McpSession, PassesOverAnswersAndNotifications) {
  Session session({.captures = {.roots = {"/"}, .use_cache = false, .version = "1"}});
  EXPECT_EQ(session.AnswerLine(R"({"jsonrpc":"2.0","id":1,"result":{}})"), "");
  EXPECT_EQ(session.AnswerLine(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"), "");
}

TEST(McpTools, HaveNamesOfTheirOwnAndArgumentsOfTheirOwn) {
  std::set<std::string_view> names;
  for (const Tool& tool : Tools()) {
    EXPECT_TRUE(names.insert(tool.name).second) << tool.name;
    EXPECT_EQ(FindTool(tool.name), &tool);
    std::set<std::string_view> args;
    for (const ToolArg& arg : tool.args) EXPECT_TRUE(args.insert(arg.name).second) << arg.name;
  }
  EXPECT_EQ(FindTool("nothing"), nullptr);
}

}  // namespace
}  // namespace steplens::mcp
