#include "readers/chrome/json_escape.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

namespace steplens::readers {
namespace {

// The value of the four hexadecimal digits at text[i]; nothing if there are none.
std::optional<uint32_t> ParseHex4(std::string_view text, size_t i) {
  uint32_t value = 0;
  if (i + 4 > text.size()) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data() + i, text.data() + i + 4, value, 16);
  if (error != std::errc() || end != text.data() + i + 4) return std::nullopt;
  return value;
}

void AppendUtf8(std::string& out, uint32_t code) {
  const auto tail = [&](uint32_t shift) {
    out += static_cast<char>(0x80 | ((code >> shift) & 0x3F));
  };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

// Appends what the escape at raw[i], a backslash, stands for and moves behind it. False if it means
// nothing.
bool AppendEscape(std::string_view raw, size_t& i, std::string& out) {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  if (i + 1 >= raw.size()) return false;
  const char letter = raw[i + 1];
  if (const size_t found = kLetters.find(letter); found != std::string_view::npos) {
    out += kMeanings[found];
    i += 2;
    return true;
  }
  const auto unit = letter == 'u' ? ParseHex4(raw, i + 2) : std::nullopt;
  if (!unit) return false;
  i += 6;
  if (*unit < 0xD800 || *unit > 0xDFFF) {
    AppendUtf8(out, *unit);
    return true;
  }
  const auto low = raw.substr(i, 2) == "\\u" ? ParseHex4(raw, i + 2) : std::nullopt;
  if (*unit > 0xDBFF || !low || *low < 0xDC00 || *low > 0xDFFF) return false;
  AppendUtf8(out, 0x10000 + ((*unit - 0xD800) << 10) + (*low - 0xDC00));
  i += 6;
  return true;
}

}  // namespace

std::string UnescapeJson(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  size_t i = 0;
  while (i < raw.size()) {
    const size_t plain_end = std::min(raw.find('\\', i), raw.size());
    out += raw.substr(i, plain_end - i);
    i = plain_end;
    if (i < raw.size() && !AppendEscape(raw, i, out)) return std::string(raw);
  }
  return out;
}

}  // namespace steplens::readers
