#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace steplens {

// The path from the root, without "." and "..". Follows no link, so it works for what is gone, too.
inline std::string AbsolutePath(const std::string& path) {
  std::error_code error;
  return std::filesystem::absolute(path, error).lexically_normal().string();
}

}  // namespace steplens
