#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace steplens::readers {

// The files and folders directly below a folder, sorted by name so that results never depend on the
// file system.
struct Listing {
  std::vector<std::string> files;
  std::vector<std::string> folders;
  std::vector<std::string> outside;  // links that leave the roots (base/roots.h); in no other list
  bool HasFolder(std::string_view name) const {
    return std::find(folders.begin(), folders.end(), name) != folders.end();
  }
};

Result<Listing> List(const std::string& folder);

std::string Join(const std::string& folder, std::string_view name);
// The last part of a path, also where a slash follows it; what '.' and '..' stand for.
std::string NameOf(const std::string& path);
std::string FolderAbove(const std::string& folder);
// 0 for a file that cannot be looked at.
uint64_t SizeOf(const std::string& path);

}  // namespace steplens::readers
