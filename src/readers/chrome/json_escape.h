#pragma once

#include <string>
#include <string_view>

namespace steplens::readers {

// The text behind a raw JSON string: escapes resolved. A text with an escape that means nothing (a
// lone surrogate) is given back as it is.
std::string UnescapeJson(std::string_view raw);

}  // namespace steplens::readers
