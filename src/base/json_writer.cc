#include "base/json_writer.h"

#include <charconv>
#include <cmath>

#include "base/number.h"
#include "base/utf8.h"

namespace steplens {

void AppendJsonString(std::string& out, std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  while (!text.empty()) {
    const auto c = static_cast<unsigned char>(text.front());
    if (c >= 0x80) {
      const size_t length = Utf8Length(text);
      if (length == 0) {
        out += "\xEF\xBF\xBD";
        text.remove_prefix(1);
      } else {
        out += text.substr(0, length);
        text.remove_prefix(length);
      }
      continue;
    }
    text.remove_prefix(1);
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (c < 0x20) {
          out += "\\u00";
          out += kHex[c >> 4];
          out += kHex[c & 15];
        } else {
          out += static_cast<char>(c);
        }
    }
  }
  out += '"';
}

void JsonWriter::Separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_items_.empty()) return;
  if (has_items_.back()) out_ += ", ";
  has_items_.back() = true;
}

JsonWriter& JsonWriter::BeginObject() {
  Separate();
  out_ += '{';
  has_items_.push_back(false);
  return *this;
}
JsonWriter& JsonWriter::EndObject() {
  has_items_.pop_back();
  out_ += '}';
  return *this;
}
JsonWriter& JsonWriter::BeginArray() {
  Separate();
  out_ += '[';
  has_items_.push_back(false);
  return *this;
}
JsonWriter& JsonWriter::EndArray() {
  has_items_.pop_back();
  out_ += ']';
  return *this;
}
JsonWriter& JsonWriter::Key(std::string_view key) {
  Separate();
  AppendJsonString(out_, key);
  out_ += ": ";
  after_key_ = true;
  return *this;
}
JsonWriter& JsonWriter::String(std::string_view text) {
  Separate();
  AppendJsonString(out_, text);
  return *this;
}
JsonWriter& JsonWriter::Int(int64_t value) {
  Separate();
  char buffer[24];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  out_.append(buffer, result.ptr);
  return *this;
}
JsonWriter& JsonWriter::Double(double value) {
  if (!std::isfinite(value)) return Null();
  Separate();
  out_ += FormatDouble(value);
  return *this;
}
JsonWriter& JsonWriter::Bool(bool value) {
  Separate();
  out_ += value ? "true" : "false";
  return *this;
}
JsonWriter& JsonWriter::Null() {
  Separate();
  out_ += "null";
  return *this;
}
JsonWriter& JsonWriter::Raw(std::string_view json) {
  Separate();
  out_ += json;
  return *this;
}
JsonWriter& JsonWriter::NewLine() {
  out_ += '\n';
  return *this;
}

}  // namespace steplens
