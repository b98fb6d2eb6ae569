#include "base/file_version.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/readability.h"

namespace steplens {

std::string FileVersion(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return "";
  NoteInput(path, info);
  return fmt::format("{} {}.{:09} {}.{:09} {}", info.st_size, info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec, info.st_ctim.tv_sec, info.st_ctim.tv_nsec, info.st_ino);
}

}  // namespace steplens
