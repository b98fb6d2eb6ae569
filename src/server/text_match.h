#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace steplens::server {

enum class MatchMode : uint8_t {
  kContains,  // any case
  kCase,      // contains, letter by letter
  kWhole,     // all of it, any case
  kExact,     // all of it, letter by letter
  kRegex,     // POSIX extended, with \d; any case
};
// "contains", "case", "whole", "exact" or "regex".
Result<MatchMode> ParseMatchMode(std::string_view text);

// Whether a text is what the user asked for. Time is linear in the text for every pattern that is
// accepted. Any number of threads.
class TextMatcher {
 public:
  static Result<TextMatcher> Make(MatchMode mode, std::string_view pattern);
  ~TextMatcher();
  TextMatcher(TextMatcher&&) noexcept;
  TextMatcher& operator=(TextMatcher&&) noexcept;

  bool operator()(std::string_view text) const;

 private:
  struct Regex;
  TextMatcher();
  MatchMode mode_ = MatchMode::kContains;
  std::string pattern_;  // folded where case does not matter
  std::unique_ptr<Regex> regex_;
};

// ASCII letters in lower case.
std::string FoldCase(std::string_view text);

}  // namespace steplens::server
