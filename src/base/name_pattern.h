#pragma once

#include <string_view>

namespace steplens {

// Whether the whole text fits the pattern, in which '*' stands for any text and '?' for one
// character. No allocation; O(text x pattern) at worst, O(text) in the usual case.
bool FitsPattern(std::string_view text, std::string_view pattern);

}  // namespace steplens
