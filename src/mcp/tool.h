#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "base/status.h"
#include "mcp/answer.h"
#include "mcp/capture.h"
#include "server/api/request.h"

namespace steplens::mcp {

enum class ArgType : uint8_t { kText, kInteger, kObject };

struct ToolArg {
  std::string_view name;
  ArgType type = ArgType::kText;
  std::string_view doc;
  bool is_required = false;
  std::vector<std::string_view> choices{};
};

// One call of a tool, with checked names of arguments.
struct ToolCall {
  Captures& captures;
  const server::Params& args;
  std::chrono::milliseconds time_limit;
  const std::function<bool()>& should_stop;

  // The capture that `path` names.
  Result<Capture> OpenPath() const;
};

struct Tool {
  std::string_view name;
  std::string_view description;
  std::vector<ToolArg> args;
  Status (*run)(const ToolCall&, Answer&);
};

// All tools, in the order in which an agent meets them.
const std::vector<Tool>& Tools();
const Tool* FindTool(std::string_view name);  // null if there is none

// {"name","description","inputSchema","annotations"}
void WriteTool(JsonWriter& json, const Tool& tool);

// Whether all arguments of `arguments`, an object or absent, are the tool's, and none is missing.
Status CheckArguments(const Tool& tool, JsonValue arguments);

// How many rows a table may have, and where it begins.
struct Window {
  size_t limit = 0;
  size_t offset = 0;
};
Result<Window> WindowOf(const ToolCall& call, int64_t otherwise);
std::vector<ToolArg> WithPath(std::vector<ToolArg> args);    // and `path` before them
std::vector<ToolArg> WithWindow(std::vector<ToolArg> args);  // and `limit`, `offset` behind them

// One function per tool.
Status RunOpen(const ToolCall& call, Answer& answer);       // tools_open.cc
Status RunDescribe(const ToolCall& call, Answer& answer);   // tools_open.cc
Status RunBreakdown(const ToolCall& call, Answer& answer);  // tools_time.cc
Status RunOperators(const ToolCall& call, Answer& answer);  // tools_time.cc
Status RunSqlTool(const ToolCall& call, Answer& answer);    // tools_ask.cc
Status RunAsk(const ToolCall& call, Answer& answer);        // tools_ask.cc
Status RunCluster(const ToolCall& call, Answer& answer);    // tools_ask.cc
Status RunExplain(const ToolCall& call, Answer& answer);    // tools_explain.cc
Status RunLink(const ToolCall& call, Answer& answer);       // tools_explain.cc
Status RunFindings(const ToolCall& call, Answer& answer);   // tools_findings.cc
Status RunCompare(const ToolCall& call, Answer& answer);    // tools_findings.cc

}  // namespace steplens::mcp
