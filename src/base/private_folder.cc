#include "base/private_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/descriptor.h"
#include "base/system_error.h"

namespace steplens {
namespace {

constexpr mode_t kOwnerOnly = S_IRWXU;
constexpr mode_t kWritable = S_IWGRP | S_IWOTH;

Error NotPrivate(const std::string& path, std::string_view why) {
  return {ErrorCode::kUnsupported, fmt::format("{}: {}; it is not used", path, why)};
}

Status MakeAll(const std::filesystem::path& path) {
  if (::mkdir(path.c_str(), kOwnerOnly) == 0 || errno == EEXIST) return {};
  if (errno == ENOENT && path.has_parent_path() && path.parent_path() != path) {
    SL_RETURN_IF_ERROR(MakeAll(path.parent_path()));
    if (::mkdir(path.c_str(), kOwnerOnly) == 0 || errno == EEXIST) return {};
  }
  return Error{ErrorCode::kIo,
               fmt::format("{}: cannot make the folder: {}", path.string(), std::strerror(errno))};
}

Status MakeAndCheck(const std::string& path, bool narrows) {
  std::string name = path;
  while (name.size() > 1 && name.ends_with('/')) name.pop_back();
  SL_RETURN_IF_ERROR(MakeAll(name));
  const Descriptor fd(::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK));
  struct stat info{};
  if (fd.get() < 0 || ::fstat(fd.get(), &info) != 0) {
    return Error{ErrorCode::kIo, fmt::format("{}: {}", path, std::strerror(errno))};
  }
  if (info.st_uid != ::geteuid()) return NotPrivate(path, "the folder belongs to another user");
  const bool is_open = (info.st_mode & (S_IRWXG | S_IRWXO)) != 0;
  if (narrows && is_open && ::fchmod(fd.get(), kOwnerOnly) == 0) return {};
  if ((info.st_mode & kWritable) != 0)
    return NotPrivate(path, "other users may write to this folder");
  return {};
}

}  // namespace

Status MakePrivateFolder(const std::string& path) { return MakeAndCheck(path, false); }

Status MakeOwnFolder(const std::string& path) { return MakeAndCheck(path, true); }

bool IsPrivateFolder(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid() &&
         (info.st_mode & kWritable) == 0;
}

Result<std::string> ReadOwnFile(const std::string& path, size_t max_bytes) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (fd.get() < 0 && errno == ELOOP) return NotPrivate(path, "is a link");
  struct stat info{};
  if (fd.get() < 0 || ::fstat(fd.get(), &info) != 0) return SystemError(path, "open", errno);
  if (!S_ISREG(info.st_mode)) return NotPrivate(path, "is not a file");
  if (info.st_uid != ::geteuid()) return NotPrivate(path, "belongs to another user");
  std::string bytes(max_bytes + 1, '\0');
  const ssize_t got = ::pread(fd.get(), bytes.data(), bytes.size(), 0);
  if (got < 0) return SystemError(path, "read", errno);
  if (static_cast<size_t>(got) > max_bytes)
    return NotPrivate(path, fmt::format("has more than {} bytes", max_bytes));
  bytes.resize(static_cast<size_t>(got));
  return bytes;
}

}  // namespace steplens
