#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/status.h"

namespace steplens::server {

// A request below /api/v1, already admitted (token, host, size).
struct Request {
  std::string method;  // GET or POST
  std::string path;    // "/ds/9f2c.../tiles"
  std::map<std::string, std::string, std::less<>> query;
  std::string body;
  std::function<bool()> is_gone;  // whether the client went away; may be empty
};

// Writes the next piece to `out`; false after the last one.
using BodyStream = std::function<bool(std::string& out)>;

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body{};
  BodyStream stream{};  // instead of body
  std::vector<std::pair<std::string, std::string>> headers{};
};

Response JsonResponse(JsonWriter&& json);
// {"error":{"code","message","hint"}} with the status that belongs to the kind of error.
Response ErrorResponse(const Error& error);
Response ErrorResponse(int status, std::string_view code, std::string_view message,
                       std::string_view hint = "");

// What a request asks for: the JSON object of its body, or its query string. Every getter checks:
// a value that is absent or of the wrong type is an error that names it.
class Params {
 public:
  static Result<Params> FromBody(const std::string& body);
  static Params FromQuery(const std::map<std::string, std::string, std::less<>>& query);

  bool Has(std::string_view name) const;
  Result<int64_t> Int(std::string_view name) const;  // a number with a fraction is refused
  Result<int64_t> IntOr(std::string_view name, int64_t otherwise) const;
  Result<std::optional<int64_t>> MaybeInt(std::string_view name) const;
  // Held to [least, most].
  Result<int64_t> IntIn(std::string_view name, int64_t otherwise, int64_t least,
                        int64_t most) const;
  Result<std::string> Text(std::string_view name) const;
  Result<std::string> TextOr(std::string_view name, std::string_view otherwise) const;
  Result<bool> BoolOr(std::string_view name, bool otherwise) const;
  Result<std::vector<int64_t>> Ints(std::string_view name) const;  // empty if absent
  Result<std::vector<std::string>> Texts(std::string_view name) const;
  // The value as it is; !exists() if absent or if the parameters come from a query string.
  JsonValue Raw(std::string_view name) const;

 private:
  Params() = default;
  std::optional<JsonDocument> document_;
  std::map<std::string, std::string, std::less<>> query_;
};

// A JSON number that is whole; nothing for other values.
std::optional<int64_t> WholeNumber(JsonValue value);

}  // namespace steplens::server
