#pragma once

#include <algorithm>
#include <cctype>
#include <string_view>

namespace steplens::analysis {

inline bool IsLetterInAnyCase(char any, char lower) {
  return std::tolower(static_cast<unsigned char>(any)) == lower;
}

// Whether `text` contains `lower_word` (lower case), in any case.
inline bool ContainsInAnyCase(std::string_view text, std::string_view lower_word) {
  return std::search(text.begin(), text.end(), lower_word.begin(), lower_word.end(),
                     IsLetterInAnyCase) != text.end();
}

inline bool StartsInAnyCase(std::string_view text, std::string_view lower_word) {
  return text.size() >= lower_word.size() &&
         std::equal(lower_word.begin(), lower_word.end(), text.begin(),
                    [](char lower, char any) { return IsLetterInAnyCase(any, lower); });
}

inline bool EqualsInAnyCase(std::string_view text, std::string_view lower_word) {
  return text.size() == lower_word.size() && StartsInAnyCase(text, lower_word);
}

}  // namespace steplens::analysis
