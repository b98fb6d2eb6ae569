#include "table/xlsx_text.h"

#include <algorithm>

#include "base/utf8.h"
#include "table/display_width.h"

namespace steplens::table {
namespace {

constexpr size_t kMaxCellUnits = 32767;
constexpr size_t kMaxNameUnits = 31;

// The longest front part of a valid text that has at most `units` UTF-16 units.
std::string_view Utf16Prefix(std::string_view text, size_t units) {
  size_t bytes = 0;
  while (bytes < text.size()) {
    const size_t length = std::max<size_t>(Utf8Length(text.substr(bytes)), 1);
    const size_t needed = length == 4 ? 2 : 1;
    if (needed > units) break;
    units -= needed;
    bytes += length;
  }
  return text.substr(0, bytes);
}

// U+FFFE and U+FFFF are valid UTF-8 but not allowed in XML.
bool IsForbiddenInXml(std::string_view character) {
  return character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF";
}

std::string ToXmlCharacters(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = std::max<size_t>(Utf8Length(text), 1);
    const std::string_view character = text.substr(0, length);
    const auto byte = static_cast<unsigned char>(text.front());
    const bool is_plain = (byte >= 0x20 && byte < 0x7F) || byte == '\n' || byte == '\t';
    if (is_plain) {
      out += character;
    } else {
      out += IsForbiddenInXml(character) ? "\xEF\xBF\xBD" : ToPrintable(character);
    }
    text.remove_prefix(length);
  }
  return out;
}

std::string LowerAscii(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::string ToLegalName(std::string_view wanted) {
  std::string name = ToXmlCharacters(wanted);
  for (char& c : name) {
    if (std::string_view("[]:*?/\\\n\t").find(c) != std::string_view::npos) c = '_';
  }
  name = Utf16Prefix(name, kMaxNameUnits);
  if (!name.empty() && name.front() == '\'') name.front() = '_';
  if (!name.empty() && name.back() == '\'') name.back() = '_';
  return name.empty() ? "Sheet" : name;
}

}  // namespace

std::string ToXlsxText(std::string_view text) {
  std::string out = ToXmlCharacters(text);
  if (out.size() <= kMaxCellUnits) return out;
  const size_t fitting = Utf16Prefix(out, kMaxCellUnits).size();
  if (fitting == out.size()) return out;
  out.resize(Utf16Prefix(out, kMaxCellUnits - 1).size());
  return out += kEllipsis;
}

std::string SheetNames::Add(std::string_view wanted) {
  const std::string base = ToLegalName(wanted);
  std::string name = base;
  // Excel keeps the name "History" for itself.
  for (size_t number = 2; LowerAscii(name) == "history" || taken_.contains(LowerAscii(name));
       ++number) {
    const std::string suffix = "_" + std::to_string(number);
    name = std::string(Utf16Prefix(base, kMaxNameUnits - suffix.size())) + suffix;
  }
  taken_.insert(LowerAscii(name));
  return name;
}

}  // namespace steplens::table
