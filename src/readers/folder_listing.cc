#include "readers/folder_listing.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/roots.h"

namespace steplens::readers {

namespace fs = std::filesystem;

// These are called dozens of times for each of thousands of ranks, where taking paths apart as
// std::filesystem does was half of the time to find them.
std::string Join(const std::string& folder, std::string_view name) {
  if (folder.empty() || name.starts_with('/')) return std::string(name);
  std::string path = folder;
  if (!path.ends_with('/')) path += '/';
  return path += name;
}

namespace {

fs::path WithoutLastSlash(const std::string& path) {
  const fs::path given(path);
  return given.has_filename() ? given : given.parent_path();
}

bool IsDots(std::string_view name) { return name == "." || name == ".."; }

}  // namespace

std::string NameOf(const std::string& path) {
  const size_t end = path.find_last_not_of('/') + 1;  // 0 if there is nothing else
  const size_t begin = end == 0 ? 0 : path.rfind('/', end - 1) + 1;
  std::string name = path.substr(begin, end - begin);
  std::error_code error;
  return IsDots(name) ? fs::canonical(path, error).filename().string() : name;
}

std::string FolderAbove(const std::string& folder) {
  const fs::path trimmed = WithoutLastSlash(folder);
  if (IsDots(trimmed.filename().string())) return Join(trimmed.string(), "..");
  const fs::path above = trimmed.parent_path();
  return above.empty() ? "." : above.string();
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
    const bool is_outside = it->is_symlink(ignored) && LeavesRoots(it->path().string());
    std::vector<std::string>& names = is_outside                  ? out.outside
                                      : it->is_directory(ignored) ? out.folders
                                                                  : out.files;
    names.push_back(it->path().filename().string());
  }
  if (error)
    return Error{ErrorCode::kIo,
                 fmt::format("{}: cannot list the folder: {}", folder, error.message())};
  std::sort(out.files.begin(), out.files.end());
  std::sort(out.folders.begin(), out.folders.end());
  std::sort(out.outside.begin(), out.outside.end());
  return out;
}

}  // namespace steplens::readers
