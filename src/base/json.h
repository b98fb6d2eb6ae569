#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/status.h"

namespace steplens {

// One value of a parsed document. Cheap to copy; valid while its JsonDocument lives. Asking a value
// for what it is not gives nothing, never an error: files of users have holes.
class JsonValue {
 public:
  JsonValue() = default;

  bool IsObject() const;
  bool IsArray() const;
  bool IsString() const;
  bool exists() const { return document_ != nullptr; }

  JsonValue operator[](std::string_view key) const;  // member of an object; absent: !exists()
  std::optional<std::string_view> AsString() const;
  std::optional<int64_t> AsInt() const;    // an integer number, or text that is one
  std::optional<double> AsDouble() const;  // any number, or text that is one
  std::optional<bool> AsBool() const;
  std::string ToText() const;  // compact JSON; the bare text of a string

  // In document order. `visit` of an object gets the key as well.
  void ForEachMember(const std::function<void(std::string_view key, JsonValue value)>& visit) const;
  void ForEachElement(const std::function<void(JsonValue value)>& visit) const;

 private:
  friend class JsonDocument;
  JsonValue(const void* document, size_t index) : document_(document), index_(index) {}
  const void* document_ = nullptr;  // simdjson's own handle, opaque here
  size_t index_ = 0;
};

// A whole small or middle-sized JSON text, parsed. Messages name the byte offset of the damage.
class JsonDocument {
 public:
  static Result<JsonDocument> Parse(std::string_view text, std::string_view name);
  static Result<JsonDocument> ReadFile(const std::string& path, uint64_t max_bytes = kMaxSmallFile);
  ~JsonDocument();
  JsonDocument(JsonDocument&&) noexcept;
  JsonDocument& operator=(JsonDocument&&) noexcept;
  JsonValue root() const;

 private:
  struct Impl;
  explicit JsonDocument(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace steplens
