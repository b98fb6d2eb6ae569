#include "mcp/protocol.h"

#include <fmt/format.h>

namespace steplens::mcp {
namespace {

bool IsNumber(const std::string& json) {
  return !json.empty() && (json.front() == '-' || (json.front() >= '0' && json.front() <= '9'));
}

// The id as JSON; nothing if it is neither text nor number.
std::string IdJson(JsonValue id) {
  if (id.IsString()) {
    std::string out;
    AppendJsonString(out, *id.AsString());
    return out;
  }
  const std::string text = id.ToText();
  return IsNumber(text) ? text : "";
}

Message ReadMessage(JsonValue value) {
  Message out;
  if (!value.IsObject()) {
    out.problem = "a message must be a JSON object";
    return out;
  }
  const JsonValue id = value["id"];
  if (id.exists()) {
    out.id_json = IdJson(id);
    if (out.id_json.empty()) {
      out.problem = "'id' must be a text or a number";
      return out;
    }
  }
  if (value["jsonrpc"].AsString() != "2.0") {
    out.problem = "'jsonrpc' must be \"2.0\"";
    return out;
  }
  if (!value["method"].IsString()) {
    out.is_response = id.exists() && (value["result"].exists() || value["error"].exists());
    out.problem = "'method' must be a text";
    return out;
  }
  out.method = std::string(*value["method"].AsString());
  out.params = value["params"];
  if (out.params.exists() && !out.params.IsObject()) {
    out.problem = "'params' must be an object";
    out.problem_code = RpcError::kInvalidParams;
  }
  return out;
}

}  // namespace

Result<Line> ParseLine(std::string_view text) {
  SL_ASSIGN_OR_RETURN(JsonDocument document, JsonDocument::Parse(text, "message"));
  Line line{std::move(document), {}};
  const JsonValue root = line.document.root();
  line.is_batch = root.IsArray();
  if (line.is_batch) {
    root.ForEachElement([&](JsonValue one) { line.messages.push_back(ReadMessage(one)); });
    if (line.messages.empty()) {
      line.messages.push_back({.problem = "the batch is empty"});
      line.is_batch = false;
    }
  } else {
    line.messages.push_back(ReadMessage(root));
  }
  return line;
}

std::string ResultMessage(std::string_view id_json, std::string_view result_json) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", id_json, result_json);
}

std::string ErrorMessage(std::string_view id_json, RpcError code, std::string_view text) {
  std::string quoted;
  AppendJsonString(quoted, text);
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{{"code":{},"message":{}}}}})",
                     id_json.empty() ? "null" : id_json, static_cast<int>(code), quoted);
}

}  // namespace steplens::mcp
