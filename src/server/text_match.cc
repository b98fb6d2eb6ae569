#include "server/text_match.h"

#include <fmt/format.h>
#include <regex.h>

#include <algorithm>
#include <cctype>

namespace steplens::server {
namespace {

constexpr size_t kMaxPattern = 256;
constexpr size_t kMaxRepeatedGroups = 4;
constexpr size_t kMaxRegexText = 4096;  // longer texts are matched by their beginning

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

bool ContainsFolded(std::string_view text, std::string_view folded) {
  const auto at = std::search(text.begin(), text.end(), folded.begin(), folded.end(),
                              [](char a, char b) { return Lower(a) == b; });
  return at != text.end() || folded.empty();
}

bool EqualsFolded(std::string_view text, std::string_view folded) {
  return std::equal(text.begin(), text.end(), folded.begin(), folded.end(),
                    [](char a, char b) { return Lower(a) == b; });
}

// The end of a bracket expression that begins at `at`; the end of the pattern if it has none.
size_t BracketEnd(std::string_view pattern, size_t at) {
  size_t end = at + 1;
  if (end < pattern.size() && pattern[end] == '^') ++end;
  if (end < pattern.size() && pattern[end] == ']') ++end;  // as first it is a letter
  while (end < pattern.size() && pattern[end] != ']') ++end;
  return end;
}

// What POSIX spells otherwise; refuses what could take for ever: the C library copies what is
// repeated, so repetitions of repetitions grow without bound.
Result<std::string> Translate(std::string_view pattern) {
  const auto refuse = [&](std::string_view why) {
    return Error{ErrorCode::kInvalidArgument, fmt::format("regex '{}': {}", pattern, why)};
  };
  if (pattern.size() > kMaxPattern) return refuse("longer than 256 characters");
  if (pattern.find('\0') != std::string_view::npos) return refuse("holds a NUL byte");
  std::string out;
  bool after_repeat = false;
  size_t repeated_groups = 0;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    const bool is_repeat = c == '+' || c == '*' || c == '?';
    if (is_repeat && after_repeat) return refuse("a repetition is repeated");
    if (is_repeat && i > 0 && pattern[i - 1] == ')' && ++repeated_groups > kMaxRepeatedGroups)
      return refuse("more than 4 groups are repeated");
    after_repeat = is_repeat;
    if (c == '{') return refuse("counts in braces are not supported");
    if (c == '[') {
      const size_t end = BracketEnd(pattern, i);
      out += pattern.substr(i, end - i + 1);
      i = end;
    } else if (c == '\\' && i + 1 < pattern.size()) {
      const char next = pattern[++i];
      if (next >= '1' && next <= '9') return refuse("back references are not supported");
      out += next == 'd' ? std::string("[0-9]") : std::string{'\\', next};
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

struct TextMatcher::Regex {
  regex_t compiled{};
  ~Regex() { regfree(&compiled); }
};

TextMatcher::TextMatcher() = default;
TextMatcher::~TextMatcher() = default;
TextMatcher::TextMatcher(TextMatcher&&) noexcept = default;
TextMatcher& TextMatcher::operator=(TextMatcher&&) noexcept = default;

std::string FoldCase(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), Lower);
  return out;
}

Result<MatchMode> ParseMatchMode(std::string_view text) {
  if (text == "contains") return MatchMode::kContains;
  if (text == "case") return MatchMode::kCase;
  if (text == "whole") return MatchMode::kWhole;
  if (text == "exact") return MatchMode::kExact;
  if (text == "regex") return MatchMode::kRegex;
  return Error{
      ErrorCode::kInvalidArgument,
      fmt::format("'{}' is not a search mode: contains, case, whole, exact or regex", text)};
}

Result<TextMatcher> TextMatcher::Make(MatchMode mode, std::string_view pattern) {
  TextMatcher out;
  out.mode_ = mode;
  const bool folds = mode == MatchMode::kContains || mode == MatchMode::kWhole;
  out.pattern_ = folds ? FoldCase(pattern) : std::string(pattern);
  if (mode != MatchMode::kRegex) return out;
  SL_ASSIGN_OR_RETURN(const std::string posix, Translate(pattern));
  regex_t compiled;
  const int rc = regcomp(&compiled, posix.c_str(), REG_EXTENDED | REG_NOSUB | REG_ICASE);
  if (rc != 0) {
    char why[128];
    regerror(rc, &compiled, why, sizeof(why));
    return Error{ErrorCode::kInvalidArgument, fmt::format("regex '{}': {}", pattern, why)};
  }
  out.regex_ = std::make_unique<Regex>();
  out.regex_->compiled = compiled;
  return out;
}

bool TextMatcher::operator()(std::string_view text) const {
  switch (mode_) {
    case MatchMode::kContains:
      return ContainsFolded(text, pattern_);
    case MatchMode::kCase:
      return text.find(pattern_) != std::string_view::npos;
    case MatchMode::kWhole:
      return EqualsFolded(text, pattern_);
    case MatchMode::kExact:
      return text == pattern_;
    case MatchMode::kRegex: {
      const std::string c_text(text.substr(0, kMaxRegexText));
      return regexec(&regex_->compiled, c_text.c_str(), 0, nullptr, 0) == 0;
    }
  }
  return false;
}

}  // namespace steplens::server
