#pragma once

#include <cstring>
#include <string_view>

namespace steplens {

// text == literal, without a call: the length is known to the compiler. For the innermost loops.
template <size_t kSize>
bool EqualsLiteral(std::string_view text, const char (&literal)[kSize]) {
  constexpr size_t kLength = kSize - 1;
  return text.size() == kLength && std::memcmp(text.data(), literal, kLength) == 0;
}

}  // namespace steplens
