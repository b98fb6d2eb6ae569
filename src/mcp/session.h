#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "mcp/capture.h"
#include "mcp/protocol.h"

namespace steplens::mcp {

// Answers the messages of one client. For one thread at a time.
class Session {
 public:
  struct Options {
    Captures::Options captures;
    std::chrono::seconds time_limit{60};  // of one call
  };
  explicit Session(Options options) : options_(std::move(options)), captures_(options_.captures) {}

  // The answer to one message; empty for a notification. `is_unwanted` says whether the client
  // cancelled it.
  std::string Answer(const Message& message, const std::function<bool()>& is_unwanted);
  // The answers to a line; empty if it wants none.
  std::string AnswerLine(std::string_view text);

 private:
  // The result as JSON, or the error with its code.
  struct Outcome {
    std::string result_json{};
    std::string error{};
    RpcError code = RpcError::kInvalidParams;
  };
  Outcome Initialize(JsonValue params) const;
  Outcome CallTool(JsonValue params, const std::function<bool()>& is_unwanted);

  Options options_;
  Captures captures_;
};

}  // namespace steplens::mcp
