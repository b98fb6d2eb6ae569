#include "export/directory.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

namespace steplens::exporting {

Status MakeDirectory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error) return {};
  return Error{ErrorCode::kIo,
               fmt::format("{}: the folder cannot be created: {}", path, error.message())};
}

}  // namespace steplens::exporting
