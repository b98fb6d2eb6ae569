#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace steplens {

// Appends JSON to a string; commas and quoting are taken care of. Text that is not valid UTF-8 is
// written with U+FFFD in place of the bad bytes, so the output is always valid JSON.
class JsonWriter {
 public:
  JsonWriter& BeginObject();
  JsonWriter& EndObject();
  JsonWriter& BeginArray();
  JsonWriter& EndArray();
  JsonWriter& Key(std::string_view key);
  JsonWriter& String(std::string_view text);
  JsonWriter& Int(int64_t value);
  JsonWriter& Double(double value);  // null for NaN and infinities
  JsonWriter& Bool(bool value);
  JsonWriter& Null();
  JsonWriter& Raw(std::string_view json);  // text that is JSON already
  JsonWriter& NewLine();                   // for files people read

  const std::string& text() const { return out_; }
  std::string Take() { return std::move(out_); }

 private:
  void Separate();
  std::string out_;
  std::vector<bool> has_items_;
  bool after_key_ = false;
};

// The quoted, escaped form of a text.
void AppendJsonString(std::string& out, std::string_view text);

}  // namespace steplens
