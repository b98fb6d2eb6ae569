#include "base/system_error.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace steplens {

Error SystemError(std::string_view path, std::string_view action, int error) {
  const ErrorCode code = error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo;
  return {code, fmt::format("{}: cannot {}: {}", path, action, std::strerror(error))};
}

}  // namespace steplens
