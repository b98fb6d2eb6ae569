#include "mcp/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>

#include "base/cancel.h"
#include "base/nearest_name.h"
#include "mcp/resources.h"
#include "mcp/tool.h"

namespace steplens::mcp {
namespace {

using Clock = std::chrono::steady_clock;

// Versions of the protocol that this server speaks, the newest first.
constexpr std::array<std::string_view, 3> kVersions = {"2025-06-18", "2025-03-26", "2024-11-05"};

constexpr std::string_view kInstructions =
    "Finds out why training steps are slow, from captures of profilers. Order of calls: open, "
    "findings, then explain, breakdown or cluster on what findings name. The resource "
    "steplens://agents says how to go on from each finding. Nothing is ever written.";

std::string ToolList() {
  JsonWriter json;
  json.BeginObject().Key("tools").BeginArray();
  for (const Tool& tool : Tools()) WriteTool(json, tool);
  return json.EndArray().EndObject().Take();
}

std::string ContentJson(std::string_view text, bool is_error) {
  JsonWriter json;
  json.BeginObject().Key("content").BeginArray().BeginObject();
  json.Key("type").String("text").Key("text").String(text).EndObject().EndArray();
  return json.Key("isError").Bool(is_error).EndObject().Take();
}

// What the tool says, or why it cannot.
Result<std::string> RunTool(const Tool& tool, const ToolCall& call) {
  mcp::Answer answer;
  try {
    SL_RETURN_IF_ERROR(tool.run(call, answer));
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kIo, "not enough memory for this; ask for one rank or one step"};
  }
  return answer.Take();
}

}  // namespace

Session::Outcome Session::Initialize(JsonValue params) const {
  const std::string_view asked = params["protocolVersion"].AsString().value_or("");
  const bool is_known = std::find(kVersions.begin(), kVersions.end(), asked) != kVersions.end();
  JsonWriter json;
  json.BeginObject().Key("protocolVersion").String(is_known ? asked : kVersions.front());
  json.Key("capabilities").BeginObject().Key("tools").BeginObject().EndObject();
  json.Key("resources").BeginObject().EndObject().EndObject();
  json.Key("serverInfo").BeginObject().Key("name").String("steplens");
  json.Key("version").String(options_.captures.version).EndObject();
  json.Key("instructions").String(kInstructions).EndObject();
  return {json.Take()};
}

Session::Outcome Session::CallTool(JsonValue params, const std::function<bool()>& is_unwanted) {
  const auto name = params["name"].AsString();
  if (!name) return {"", "'name' must be the name of a tool"};
  const Tool* tool = FindTool(*name);
  if (tool == nullptr) {
    std::vector<std::string> names;
    for (const Tool& one : Tools()) names.emplace_back(one.name);
    return {"", fmt::format("there is no tool '{}'{}; tools/list names them", Shortened(*name, 100),
                            DidYouMean(*name, names))};
  }
  const JsonValue arguments = params["arguments"];
  if (arguments.exists() && !arguments.IsObject()) return {"", "'arguments' must be an object"};
  if (Status checked = CheckArguments(*tool, arguments); !checked.ok())
    return {ContentJson(checked.error().message, true)};
  const Result<server::Params> args =
      server::Params::FromBody(arguments.exists() ? arguments.ToText() : "{}");
  if (!args.ok()) return {ContentJson(args.error().message, true)};
  const Clock::time_point end = Clock::now() + options_.time_limit;
  const std::function<bool()> should_stop = [&] {
    return Clock::now() > end || (is_unwanted && is_unwanted());
  };
  const CancelScope scope(should_stop);
  const ToolCall call{captures_, *args, options_.time_limit, should_stop};
  Result<std::string> text = RunTool(*tool, call);
  if (!text.ok() && text.error().code != ErrorCode::kCancelled)
    return {ContentJson(Shortened(text.error().message, 2000), true)};
  // Loops that were stopped just end: what they came to is not the whole.
  if (!text.ok() || IsCancelled()) {
    return {ContentJson(fmt::format("stopped after {} s; ask for one rank or one step, or start "
                                    "the server with a larger --timeout",
                                    options_.time_limit.count()),
                        true)};
  }
  return {ContentJson(*text, false)};
}

std::string Session::Answer(const Message& message, const std::function<bool()>& is_unwanted) {
  if (message.is_response) return "";
  if (!message.problem.empty())
    return ErrorMessage(message.id_json, message.problem_code, message.problem);
  Outcome out;
  if (message.method == "initialize") {
    out = Initialize(message.params);
  } else if (message.method == "ping") {
    out = {"{}"};
  } else if (message.method == "tools/list") {
    out = {ToolList()};
  } else if (message.method == "tools/call") {
    if (!message.wants_answer()) return "";
    out = CallTool(message.params, is_unwanted);
  } else if (message.method == "resources/list") {
    out = {ResourceList()};
  } else if (message.method == "resources/templates/list") {
    out = {ResourceTemplates()};
  } else if (message.method == "resources/read") {
    const std::string uri(message.params["uri"].AsString().value_or(""));
    const Result<std::string> text = ReadResource(uri);
    if (text.ok()) {
      JsonWriter json;
      json.BeginObject().Key("contents").BeginArray().BeginObject().Key("uri").String(uri);
      json.Key("mimeType").String("text/markdown").Key("text").String(*text);
      out = {json.EndObject().EndArray().EndObject().Take()};
    } else {
      out = {"", text.error().message, RpcError::kResourceNotFound};
    }
  } else {
    out = {"", fmt::format("there is no method '{}'", Shortened(message.method, 100)),
           RpcError::kMethodNotFound};
  }
  if (!message.wants_answer()) return "";
  return out.error.empty() ? ResultMessage(message.id_json, out.result_json)
                           : ErrorMessage(message.id_json, out.code, out.error);
}

std::string Session::AnswerLine(std::string_view text) {
  const Result<Line> line = ParseLine(text);
  if (!line.ok()) return ErrorMessage("", RpcError::kParse, "not JSON: " + line.error().message);
  std::string out;
  for (const Message& message : line->messages) {
    const std::string one = Answer(message, {});
    if (one.empty()) continue;
    if (!out.empty()) out += ',';
    out += one;
  }
  return line->is_batch && !out.empty() ? "[" + out + "]" : out;
}

}  // namespace steplens::mcp
