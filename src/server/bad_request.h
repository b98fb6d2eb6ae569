#pragma once

#include <string>
#include <utility>

#include "base/status.h"

namespace steplens::server {

// What is wrong with a request, for the one who sent it.
inline Error Bad(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

}  // namespace steplens::server
