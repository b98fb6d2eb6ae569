#include "base/json.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <cstring>

#include "base/file.h"
#include "base/memory_limit.h"
#include "base/number.h"

namespace steplens {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

static_assert(sizeof(element) == sizeof(void*) + sizeof(size_t));

// A JsonValue is a dom::element under another name, so that simdjson stays out of the header.
element ToElement(const void* document, size_t index) {
  struct Handle {
    const void* document;
    size_t index;
  };
  const Handle handle{document, index};
  element out;
  std::memcpy(static_cast<void*>(&out), &handle, sizeof(out));
  return out;
}

// A number or word of JSON text: up to the next separator.
std::string_view TokenAt(std::string_view text) {
  return text.substr(0, text.find_first_of(" \t\r\n,:[]{}\""));
}

bool IsUsualToken(std::string_view token) {
  constexpr size_t kMaxDigits = 18;  // as many always fit into 64 bits
  if (token == "true" || token == "false" || token == "null") return true;
  const bool is_whole = token.find_first_not_of("-0123456789") == std::string_view::npos;
  return is_whole ? token.size() <= kMaxDigits : ParseDouble(token).has_value();
}

// The text with numbers that simdjson refuses (beyond 64 bits, NaN, Infinity, 1e400) in quotes: one
// odd value must not lose a file. As texts they are read where they can be used.
std::string QuoteOddNumbers(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 64);
  for (size_t at = 0; at < text.size();) {
    size_t size = 1;
    bool is_odd = false;
    if (text[at] == '"') {
      while (at + size < text.size() && text[at + size] != '"')
        size += text[at + size] == '\\' ? 2 : 1;
      ++size;
    } else if (const std::string_view token = TokenAt(text.substr(at)); !token.empty()) {
      size = token.size();
      is_odd = !IsUsualToken(token);
    }
    if (is_odd) out += '"';
    out += text.substr(at, size);
    if (is_odd) out += '"';
    at += size;
  }
  return out;
}

}  // namespace

struct JsonDocument::Impl {
  simdjson::dom::parser parser;
  simdjson::padded_string text;
  element root;
};

JsonDocument::JsonDocument(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
JsonDocument::~JsonDocument() = default;
JsonDocument::JsonDocument(JsonDocument&&) noexcept = default;
JsonDocument& JsonDocument::operator=(JsonDocument&&) noexcept = default;

Result<JsonDocument> JsonDocument::Parse(std::string_view text, std::string_view name) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  auto impl = std::make_unique<Impl>();
  impl->text = simdjson::padded_string(text);
  auto error = impl->parser.parse(impl->text).get(impl->root);
  if (error == simdjson::MEMALLOC) return OutOfMemory();
  if (error) {
    // NaN is a syntax error, a long number one of its own: whatever it was, it is tried once more.
    impl->text = simdjson::padded_string(QuoteOddNumbers(text));
    if (!impl->parser.parse(impl->text).get(impl->root)) error = simdjson::SUCCESS;
  }
  if (error) {
    return Error{ErrorCode::kCorruptData, fmt::format("{}: not valid JSON ({} bytes): {}", name,
                                                      text.size(), simdjson::error_message(error))};
  }
  return JsonDocument(std::move(impl));
}

Result<JsonDocument> JsonDocument::ReadFile(const std::string& path, uint64_t max_bytes) {
  SL_ASSIGN_OR_RETURN(const std::string text, steplens::ReadFile(path, max_bytes));
  return Parse(text, path);
}

JsonValue JsonDocument::root() const {
  struct {
    const void* document;
    size_t index;
  } handle{};
  std::memcpy(&handle, static_cast<const void*>(&impl_->root), sizeof(handle));
  return JsonValue(handle.document, handle.index);
}

bool JsonValue::IsObject() const { return exists() && ToElement(document_, index_).is_object(); }
bool JsonValue::IsArray() const { return exists() && ToElement(document_, index_).is_array(); }
bool JsonValue::IsString() const { return exists() && ToElement(document_, index_).is_string(); }

JsonValue JsonValue::operator[](std::string_view key) const {
  JsonValue out;
  if (!exists()) return out;
  element found;
  if (ToElement(document_, index_).at_key(key).get(found)) return out;
  std::memcpy(static_cast<void*>(&out), static_cast<const void*>(&found), sizeof(found));
  return out;
}

std::optional<std::string_view> JsonValue::AsString() const {
  std::string_view text;
  if (!exists() || ToElement(document_, index_).get_string().get(text)) return std::nullopt;
  return text;
}

std::optional<int64_t> JsonValue::AsInt() const {
  if (const auto text = AsString()) return ParseInt64(*text);
  int64_t value = 0;
  if (!exists() || ToElement(document_, index_).get_int64().get(value)) return std::nullopt;
  return value;
}

std::optional<double> JsonValue::AsDouble() const {
  if (const auto text = AsString()) return ParseDouble(*text);
  double value = 0;
  if (!exists() || ToElement(document_, index_).get_double().get(value)) return std::nullopt;
  return value;
}

std::optional<bool> JsonValue::AsBool() const {
  bool value = false;
  if (!exists() || ToElement(document_, index_).get_bool().get(value)) return std::nullopt;
  return value;
}

std::string JsonValue::ToText() const {
  if (!exists()) return "";
  if (const auto text = AsString()) return std::string(*text);
  return simdjson::minify(ToElement(document_, index_));
}

void JsonValue::ForEachMember(const std::function<void(std::string_view, JsonValue)>& visit) const {
  simdjson::dom::object object;
  if (!exists() || ToElement(document_, index_).get_object().get(object)) return;
  for (const auto& field : object) {
    JsonValue value;
    std::memcpy(static_cast<void*>(&value), static_cast<const void*>(&field.value),
                sizeof(element));
    visit(field.key, value);
  }
}

void JsonValue::ForEachElement(const std::function<void(JsonValue)>& visit) const {
  simdjson::dom::array array;
  if (!exists() || ToElement(document_, index_).get_array().get(array)) return;
  for (const element item : array) {
    JsonValue value;
    std::memcpy(static_cast<void*>(&value), static_cast<const void*>(&item), sizeof(element));
    visit(value);
  }
}

}  // namespace steplens
