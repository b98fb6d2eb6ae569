#include "readers/folder_listing.h"

#include <fmt/format.h>

#include <filesystem>

namespace steplens::readers {

namespace fs = std::filesystem;

std::string Join(const std::string& folder, std::string_view name) {
  return (fs::path(folder) / fs::path(name)).string();
}

std::string NameOf(const std::string& path) {
  fs::path trimmed(path);
  if (!trimmed.has_filename()) trimmed = trimmed.parent_path();
  return trimmed.filename().string();
}

uint64_t SizeOf(const std::string& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  return error ? 0 : static_cast<uint64_t>(size);
}

Result<Listing> List(const std::string& folder) {
  Listing out;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    (it->is_directory(ignored) ? out.folders : out.files).push_back(it->path().filename().string());
  }
  if (error)
    return Error{ErrorCode::kIo,
                 fmt::format("{}: cannot list the folder: {}", folder, error.message())};
  std::sort(out.files.begin(), out.files.end());
  std::sort(out.folders.begin(), out.folders.end());
  return out;
}

}  // namespace steplens::readers
