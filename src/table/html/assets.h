#pragma once

#include <string_view>

namespace steplens::table::html {

// The style and the script of every page, as they stand in it.
extern const std::string_view kStyle;
extern const std::string_view kScript;

// The base64 SHA-256 of kScript, for the Content-Security-Policy: browsers refuse the script when
// it does not fit. The unit test says the right value after a change.
extern const std::string_view kScriptHash;

}  // namespace steplens::table::html
