#include "base/utf8.h"

#include <simdjson.h>

namespace steplens {

bool IsValidUtf8(std::string_view text) { return simdjson::validate_utf8(text); }

}  // namespace steplens
