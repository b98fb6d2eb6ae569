#include "collect/json_text.h"

#include <cstdio>

#include "base/utf8.h"

namespace steplens::collect {
namespace {

constexpr int kMaxDepth = 100;

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Steps over JSON values; every function returns false where the text is not JSON.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  void Blanks() {
    while (at_ < text_.size() && IsBlank(text_[at_])) ++at_;
  }
  bool Take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool AtEnd() const { return at_ == text_.size(); }
  size_t at() const { return at_; }

  bool Value(int depth) {
    if (depth > kMaxDepth || at_ >= text_.size()) return false;
    switch (text_[at_]) {
      case '{':
        return Sequence(depth, '}', true);
      case '[':
        return Sequence(depth, ']', false);
      case '"':
        return String();
      case 't':
        return Word("true");
      case 'f':
        return Word("false");
      case 'n':
        return Word("null");
      default:
        return Number();
    }
  }

  bool String() {
    if (!Take('"')) return false;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return true;
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c == '\\' && !Escape()) return false;
    }
    return false;
  }

 private:
  bool Escape() {
    if (at_ >= text_.size()) return false;
    const char c = text_[at_++];
    if (c != 'u') return std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos;
    for (int i = 0; i < 4; ++i, ++at_) {
      if (at_ >= text_.size()) return false;
      const char d = text_[at_];
      if (!IsDigit(d) && !(d >= 'a' && d <= 'f') && !(d >= 'A' && d <= 'F')) return false;
    }
    return true;
  }

  bool Sequence(int depth, char close, bool has_keys) {
    ++at_;
    Blanks();
    if (Take(close)) return true;
    while (true) {
      Blanks();
      if (has_keys) {
        if (!String()) return false;
        Blanks();
        if (!Take(':')) return false;
        Blanks();
      }
      if (!Value(depth + 1)) return false;
      Blanks();
      if (Take(close)) return true;
      if (!Take(',')) return false;
    }
  }

  bool Word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  bool Digits() {
    const size_t start = at_;
    while (at_ < text_.size() && IsDigit(text_[at_])) ++at_;
    return at_ != start;
  }

  bool Number() {
    Take('-');
    const bool leading_zero = at_ < text_.size() && text_[at_] == '0';
    const size_t start = at_;
    if (!Digits() || (leading_zero && at_ - start > 1)) return false;
    if (Take('.') && !Digits()) return false;
    if (Take('e') || Take('E')) {
      if (!Take('+')) Take('-');
      if (!Digits()) return false;
    }
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

// Calls item(key, value) for each member or element; false if `text` is no such sequence.
template <typename Item>
bool ForEachItem(std::string_view text, char open, bool has_keys, Item item) {
  if (!IsJson(text)) return false;
  Scanner scan(text);
  scan.Blanks();
  if (!scan.Take(open)) return false;
  const char close = has_keys ? '}' : ']';
  scan.Blanks();
  if (scan.Take(close)) return true;
  while (true) {
    scan.Blanks();
    const size_t key = scan.at();
    if (has_keys) scan.String();
    const size_t key_end = scan.at();
    scan.Blanks();
    if (has_keys) scan.Take(':');
    scan.Blanks();
    const size_t value = scan.at();
    scan.Value(0);
    item(text.substr(key, key_end - key), text.substr(value, scan.at() - value));
    scan.Blanks();
    if (!scan.Take(',')) return true;
  }
}

void AppendUtf8(uint32_t code, std::string* out) {
  const auto byte = [out](uint32_t value) { *out += static_cast<char>(value); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0 | (code >> 6));
    byte(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    byte(0xE0 | (code >> 12));
    byte(0x80 | ((code >> 6) & 0x3F));
    byte(0x80 | (code & 0x3F));
  } else {
    byte(0xF0 | (code >> 18));
    byte(0x80 | ((code >> 12) & 0x3F));
    byte(0x80 | ((code >> 6) & 0x3F));
    byte(0x80 | (code & 0x3F));
  }
}

uint32_t Hex4(std::string_view text) {
  uint32_t value = 0;
  for (const char c : text.substr(0, 4)) {
    const uint32_t digit =
        IsDigit(c) ? static_cast<uint32_t>(c - '0') : static_cast<uint32_t>((c | 0x20) - 'a' + 10);
    value = value * 16 + digit;
  }
  return value;
}

// The character behind "\u"; `at` is at its digits and moves behind them. Halves of a pair that
// stand alone: U+FFFD.
uint32_t UnicodeEscape(std::string_view text, size_t* at) {
  const uint32_t first = Hex4(text.substr(*at));
  *at += 4;
  if (first < 0xD800 || first > 0xDFFF) return first;
  const bool pair = first < 0xDC00 && text.substr(*at, 2) == "\\u" && *at + 6 <= text.size();
  const uint32_t second = pair ? Hex4(text.substr(*at + 2)) : 0;
  if (second < 0xDC00 || second > 0xDFFF) return 0xFFFD;
  *at += 6;
  return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
}

std::string Unescape(std::string_view inside) {
  std::string out;
  for (size_t at = 0; at < inside.size();) {
    const char c = inside[at++];
    if (c != '\\') {
      out += c;
      continue;
    }
    const char kind = inside[at++];
    constexpr std::string_view kNames = "bfnrt";
    constexpr std::string_view kValues = "\b\f\n\r\t";
    if (kind == 'u') {
      AppendUtf8(UnicodeEscape(inside, &at), &out);
    } else if (const size_t index = kNames.find(kind); index != std::string_view::npos) {
      out += kValues[index];
    } else {
      out += kind;
    }
  }
  return out;
}

void NewLine(int level, std::string* out) {
  *out += '\n';
  out->append(static_cast<size_t>(level) * 4, ' ');
}

}  // namespace

bool IsJson(std::string_view text) {
  Scanner scan(text);
  scan.Blanks();
  if (!scan.Value(0)) return false;
  scan.Blanks();
  return scan.AtEnd();
}

std::optional<std::vector<std::pair<std::string, std::string>>> JsonMembers(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> members;
  const bool ok = ForEachItem(text, '{', true, [&](std::string_view key, std::string_view value) {
    members.emplace_back(Unescape(key.substr(1, key.size() - 2)), value);
  });
  if (!ok) return std::nullopt;
  return members;
}

std::optional<std::vector<std::string>> JsonElements(std::string_view text) {
  std::vector<std::string> elements;
  const bool ok = ForEachItem(text, '[', false, [&](std::string_view, std::string_view value) {
    elements.emplace_back(value);
  });
  if (!ok) return std::nullopt;
  return elements;
}

std::optional<std::string> JsonString(std::string_view value) {
  if (value.size() < 2 || value[0] != '"' || !IsJson(value)) return std::nullopt;
  return Unescape(value.substr(1, value.rfind('"') - 1));
}

std::string IndentJson(std::string_view text, int level) {
  std::string out;
  bool in_string = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string) {
      out += c;
      if (c == '\\') out += text[++at];
      in_string = c != '"';
      continue;
    }
    if (IsBlank(c)) continue;
    if (c == '"') in_string = true;
    if (c == '}' || c == ']') {
      --level;
      if (out.back() != '{' && out.back() != '[') NewLine(level, &out);
    } else if (!out.empty() && (out.back() == '{' || out.back() == '[' || out.back() == ',')) {
      NewLine(level, &out);
    }
    out += c;
    if (c == '{' || c == '[') ++level;
    if (c == ':') out += ' ';
  }
  return out;
}

std::string QuoteJson(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    const auto c = static_cast<unsigned char>(text[0]);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else if (c < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof(escaped), "\\u%04x", c);
      out += escaped;
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out + "\"";
}

}  // namespace steplens::collect
