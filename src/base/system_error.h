#pragma once

#include <string_view>

#include "base/status.h"

namespace steplens {

// "PATH: cannot ACTION: reason"; `error` is errno. kNotFound for what is not there, else kIo.
Error SystemError(std::string_view path, std::string_view action, int error);

}  // namespace steplens
