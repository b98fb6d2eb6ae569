#include "table/display_width.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/utf8.h"

namespace steplens::table {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct CodeRange {
  char32_t first;
  char32_t last;
};

constexpr std::array kControl = {CodeRange{0x00, 0x1F}, CodeRange{0x7F, 0x9F},
                                 CodeRange{0x2028, 0x202E}, CodeRange{0x2066, 0x2069}};

constexpr std::array kZeroWidth = {CodeRange{0x0300, 0x036F}, CodeRange{0x200B, 0x200F},
                                   CodeRange{0x20D0, 0x20FF}, CodeRange{0xFE00, 0xFE0F},
                                   CodeRange{0xFEFF, 0xFEFF}};

constexpr std::array kDoubleWidth = {
    CodeRange{0x1100, 0x115F},   CodeRange{0x2E80, 0x303E},   CodeRange{0x3041, 0x4DBF},
    CodeRange{0x4E00, 0xA4CF},   CodeRange{0xA960, 0xA97F},   CodeRange{0xAC00, 0xD7A3},
    CodeRange{0xF900, 0xFAFF},   CodeRange{0xFE30, 0xFE6F},   CodeRange{0xFF00, 0xFF60},
    CodeRange{0xFFE0, 0xFFE6},   CodeRange{0x1F300, 0x1F64F}, CodeRange{0x1F900, 0x1F9FF},
    CodeRange{0x20000, 0x3FFFD},
};

bool Contains(std::span<const CodeRange> ranges, char32_t code) {
  return std::any_of(ranges.begin(), ranges.end(), [code](const CodeRange& range) {
    return range.first <= code && code <= range.last;
  });
}

// The code point of one valid UTF-8 character.
char32_t Decode(std::string_view character) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return byte(0);
  char32_t code = byte(0) & (0x7Fu >> character.size());
  for (size_t i = 1; i < character.size(); ++i) code = code << 6 | (byte(i) & 0x3Fu);
  return code;
}

size_t CharacterWidth(std::string_view character) {
  const char32_t code = Decode(character);
  if (code < 0x300) return 1;
  if (Contains(kZeroWidth, code)) return 0;
  return Contains(kDoubleWidth, code) ? 2 : 1;
}

// The characters of a valid text, front to back.
std::vector<std::string_view> SplitCharacters(std::string_view text) {
  std::vector<std::string_view> characters;
  while (!text.empty()) {
    const size_t length = std::max<size_t>(Utf8Length(text), 1);
    characters.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return characters;
}

}  // namespace

std::string ToPrintable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    const bool keep = length > 0 && !Contains(kControl, Decode(text.substr(0, length)));
    out += keep ? text.substr(0, length) : kReplacement;
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

size_t DisplayWidth(std::string_view printable) {
  size_t width = 0;
  for (const std::string_view character : SplitCharacters(printable)) {
    width += CharacterWidth(character);
  }
  return width;
}

std::string ShortenMiddle(std::string_view printable, size_t width) {
  if (DisplayWidth(printable) <= width) return std::string(printable);
  if (width == 0) return "";
  const std::vector<std::string_view> characters = SplitCharacters(printable);
  const size_t tail_width = (width - 1) / 2;
  const size_t head_width = width - 1 - tail_width;

  size_t head = 0;
  for (size_t used = 0; head < characters.size(); ++head) {
    used += CharacterWidth(characters[head]);
    if (used > head_width) break;
  }
  size_t tail = characters.size();
  for (size_t used = 0; tail > head; --tail) {
    used += CharacterWidth(characters[tail - 1]);
    if (used > tail_width) break;
  }
  std::string out;
  for (size_t i = 0; i < head; ++i) out += characters[i];
  out += kEllipsis;
  for (size_t i = tail; i < characters.size(); ++i) out += characters[i];
  return out;
}

}  // namespace steplens::table
