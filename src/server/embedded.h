#pragma once

#include <span>
#include <string_view>

namespace steplens::server {

// A file below ui/dist, in the program. Filled in by cmake/EmbedAssets.cmake.
struct EmbeddedFile {
  std::string_view name;  // "index.html", "assets/app-1a2b3c.js.gz"
  const char* begin;
  const char* end;
};
std::span<const EmbeddedFile> EmbeddedFiles();

}  // namespace steplens::server
