#pragma once

#include <string>
#include <string_view>

namespace steplens::analysis {

// ASCII letters made small, all else as it is.
inline std::string LowerCase(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace steplens::analysis
