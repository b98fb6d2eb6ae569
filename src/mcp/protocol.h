#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/status.h"

// JSON-RPC 2.0 as the Model Context Protocol uses it: one message per line.

namespace steplens::mcp {

// What an error of the protocol is called on the wire.
enum class RpcError : int16_t {
  kParse = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kResourceNotFound = -32002,
  kBusy = -32001,
};

// A request, or a notification, which wants no answer.
struct Message {
  std::string id_json{};  // as it came; empty: a notification
  std::string method{};
  JsonValue params{};  // lives as long as the document
  // Why it is no message, with the answer's code; empty for a good one.
  std::string problem{};
  RpcError problem_code = RpcError::kInvalidRequest;
  bool is_response = false;  // to a request of ours, which there is none of: passed over

  bool wants_answer() const { return !id_json.empty(); }
};

// The messages of one line: one, or those of a batch.
struct Line {
  JsonDocument document;
  std::vector<Message> messages;
  bool is_batch = false;
};
// kCorruptData if the line is not JSON.
Result<Line> ParseLine(std::string_view text);

// {"jsonrpc":"2.0","id":...,"result":RESULT}
std::string ResultMessage(std::string_view id_json, std::string_view result_json);
std::string ErrorMessage(std::string_view id_json, RpcError code, std::string_view text);

}  // namespace steplens::mcp
