#pragma once

#include <string>

#include "base/json.h"
#include "base/status.h"

namespace steplens::server {

// A filter given as JSON, in the language of SliceFilter:
//
//   {"and":[{"field":"name","op":"~","value":"matmul"},{"not":{"field":"rank","op":"in","value":[0,1]}}]}
//   {"or":[{"field":"dur","op":">","value":50000},{"arg":"task type","op":"=","value":"AI_CORE"}]}
//
// Numbers that durations are compared with are ns; texts have units ("50us"). An error says which
// part is not understood.
Result<std::string> FilterText(JsonValue filter);

}  // namespace steplens::server
