#pragma once

#include <span>
#include <string>
#include <string_view>

namespace steplens {

// The name a mistyped word most likely meant: the one fewest keystrokes away (a letter missing, too
// many, wrong, or two swapped), regardless of case; also the only one the word is the beginning of.
// Empty if none is near. Of equals the first.
std::string NearestName(std::string_view word, std::span<const std::string> names);

// "; did you mean 'json'?", empty if no name is near.
std::string DidYouMean(std::string_view word, std::span<const std::string> names);

}  // namespace steplens
