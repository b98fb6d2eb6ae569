#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace steplens::table {

// Stands for what was left out of a text.
inline constexpr std::string_view kEllipsis = "…";

// The text as a terminal may get it: control characters (also those that turn the writing
// direction) and bytes that are not valid UTF-8 become U+FFFD.
std::string ToPrintable(std::string_view text);

// Terminal columns a printable text takes: two for CJK and emoji, none for combining marks.
size_t DisplayWidth(std::string_view printable);

// At most `width` columns: both ends are kept and the middle becomes "…".
std::string ShortenMiddle(std::string_view printable, size_t width);

}  // namespace steplens::table
