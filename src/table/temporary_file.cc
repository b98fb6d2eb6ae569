#include "table/temporary_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace steplens::table {
namespace {

Error SystemError(const std::string& path, const char* action, int error) {
  return {ErrorCode::kIo, fmt::format("{}: cannot {}: {}", path, action, std::strerror(error))};
}

}  // namespace

Result<TemporaryFile> TemporaryFile::CreateBeside(const std::string& path) {
  std::string name = path + ".XXXXXX";
  const int fd = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd < 0) return SystemError(path, "create", errno);
  ::fchmod(fd, 0644);
  ::close(fd);
  return TemporaryFile(std::move(name));
}

TemporaryFile::~TemporaryFile() {
  if (!name_.empty()) ::unlink(name_.c_str());
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : name_(std::exchange(other.name_, {})) {}

Status TemporaryFile::RenameTo(const std::string& path) {
  if (::rename(name_.c_str(), path.c_str()) != 0) return SystemError(path, "write", errno);
  name_.clear();
  return {};
}

}  // namespace steplens::table
