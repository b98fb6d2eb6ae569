#pragma once

#include <string>
#include <string_view>

namespace steplens::analysis {

// A name as SQL quotes it, without the quotes around it.
inline std::string SqlText(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '\'') out += c;
  }
  return out;
}

}  // namespace steplens::analysis
