#include "server/api/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/number.h"
#include "server/bad_request.h"

namespace steplens::server {
namespace {

constexpr size_t kMaxListItems = 200'000;

// "2.0" and "1e3" are whole; half a track is nothing that could be meant.
std::optional<int64_t> AsWhole(std::optional<double> number) {
  if (!number || std::floor(*number) != *number || std::abs(*number) >= 4e18) return std::nullopt;
  return static_cast<int64_t>(*number);
}

}  // namespace

Response JsonResponse(JsonWriter&& json) {
  Response response;
  response.body = json.Take();
  return response;
}

Response ErrorResponse(int status, std::string_view code, std::string_view message,
                       std::string_view hint) {
  JsonWriter json;
  json.BeginObject().Key("error").BeginObject();
  json.Key("code").String(code).Key("message").String(message).Key("hint").String(hint);
  json.EndObject().EndObject();
  Response response = JsonResponse(std::move(json));
  response.status = status;
  return response;
}

Response ErrorResponse(const Error& error) {
  switch (error.code) {
    case ErrorCode::kInvalidArgument:
      return ErrorResponse(400, "bad_request", error.message);
    case ErrorCode::kNotFound:
      return ErrorResponse(404, "not_found", error.message);
    case ErrorCode::kCorruptData:
      return ErrorResponse(422, "damaged_data", error.message);
    case ErrorCode::kUnsupported:
      return ErrorResponse(422, "unsupported", error.message);
    case ErrorCode::kIo:
      return ErrorResponse(500, "io", error.message);
    case ErrorCode::kOutOfMemory:
      return ErrorResponse(503, "out_of_memory", error.message);
    case ErrorCode::kCancelled:
      return ErrorResponse(503, "cancelled", error.message);
    case ErrorCode::kInternal:
      return ErrorResponse(500, "internal", error.message, "please report this");
  }
  return ErrorResponse(500, "internal", error.message);
}

std::optional<int64_t> WholeNumber(JsonValue value) {
  if (!value.exists()) return std::nullopt;
  if (const auto whole = value.AsInt()) return whole;
  return AsWhole(value.AsDouble());
}

Result<Params> Params::FromBody(const std::string& body) {
  Params out;
  SL_ASSIGN_OR_RETURN(JsonDocument document, [&]() -> Result<JsonDocument> {
    Result<JsonDocument> parsed = JsonDocument::Parse(body, "request body");
    if (!parsed.ok()) return Bad(parsed.error().message);
    return parsed;
  }());
  if (!document.root().IsObject()) return Bad("request body: not a JSON object");
  out.document_ = std::move(document);
  return out;
}

Params Params::FromQuery(const std::map<std::string, std::string, std::less<>>& query) {
  Params out;
  out.query_ = query;
  return out;
}

JsonValue Params::Raw(std::string_view name) const {
  return document_ ? document_->root()[name] : JsonValue();
}

bool Params::Has(std::string_view name) const {
  if (!document_) return query_.contains(name);
  const JsonValue value = Raw(name);
  return value.exists() && (value.IsString() || value.ToText() != "null");
}

Result<std::optional<int64_t>> Params::MaybeInt(std::string_view name) const {
  if (!Has(name)) return std::optional<int64_t>();
  std::optional<int64_t> number;
  if (document_) {
    number = WholeNumber(Raw(name));
  } else {
    const std::string& text = query_.find(name)->second;
    number = ParseInt64(text);
    if (!number) number = AsWhole(ParseDouble(text));
  }
  if (!number) return Bad(fmt::format("'{}' is not a whole number", name));
  return number;
}

Result<int64_t> Params::Int(std::string_view name) const {
  SL_ASSIGN_OR_RETURN(const std::optional<int64_t> number, MaybeInt(name));
  if (!number) return Bad(fmt::format("'{}' is missing", name));
  return *number;
}

Result<int64_t> Params::IntOr(std::string_view name, int64_t otherwise) const {
  SL_ASSIGN_OR_RETURN(const std::optional<int64_t> number, MaybeInt(name));
  return number.value_or(otherwise);
}

Result<int64_t> Params::IntIn(std::string_view name, int64_t otherwise, int64_t least,
                              int64_t most) const {
  SL_ASSIGN_OR_RETURN(const int64_t number, IntOr(name, otherwise));
  return std::clamp(number, least, most);
}

Result<std::string> Params::Text(std::string_view name) const {
  if (!Has(name)) return Bad(fmt::format("'{}' is missing", name));
  if (!document_) return query_.find(name)->second;
  const auto text = Raw(name).AsString();
  if (!text) return Bad(fmt::format("'{}' is not a text", name));
  return std::string(*text);
}

Result<std::string> Params::TextOr(std::string_view name, std::string_view otherwise) const {
  if (!Has(name)) return std::string(otherwise);
  return Text(name);
}

Result<bool> Params::BoolOr(std::string_view name, bool otherwise) const {
  if (!Has(name)) return otherwise;
  if (!document_) return query_.find(name)->second == "true" || query_.find(name)->second == "1";
  const auto value = Raw(name).AsBool();
  if (!value) return Bad(fmt::format("'{}' is neither true nor false", name));
  return *value;
}

Result<std::vector<int64_t>> Params::Ints(std::string_view name) const {
  std::vector<int64_t> out;
  if (!Has(name)) return out;
  const JsonValue list = Raw(name);
  if (!list.IsArray()) return Bad(fmt::format("'{}' is not a list", name));
  bool sound = true;
  list.ForEachElement([&](JsonValue value) {
    const auto number = WholeNumber(value);
    sound = sound && number && out.size() < kMaxListItems;
    if (sound) out.push_back(*number);
  });
  if (!sound)
    return Bad(fmt::format("'{}' holds something that is not a whole number, or too many", name));
  return out;
}

Result<std::vector<std::string>> Params::Texts(std::string_view name) const {
  std::vector<std::string> out;
  if (!Has(name)) return out;
  const JsonValue list = Raw(name);
  if (!list.IsArray()) return Bad(fmt::format("'{}' is not a list", name));
  bool sound = true;
  list.ForEachElement([&](JsonValue value) {
    const auto text = value.AsString();
    sound = sound && text && out.size() < kMaxListItems;
    if (sound) out.emplace_back(*text);
  });
  if (!sound) return Bad(fmt::format("'{}' holds something that is not a text", name));
  return out;
}

}  // namespace steplens::server
