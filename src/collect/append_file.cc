#include "collect/append_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace steplens::collect {
namespace {

constexpr mode_t kFileMode = 0640;

// A new file in place of what has its name, which a link may be that leads elsewhere; -1 with errno
// set.
int OpenNew(const std::string& path) {
  constexpr int kNew = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const int fd = open(path.c_str(), kNew, kFileMode);
  if (fd >= 0 || errno != EEXIST || unlink(path.c_str()) != 0) return fd;
  return open(path.c_str(), kNew, kFileMode);
}

// Writes all of it at `offset`; false with errno set.
bool WriteAll(int fd, const uint8_t* data, size_t size, uint64_t offset) {
  while (size > 0) {
    const ssize_t written = pwrite(fd, data, size, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      if (written == 0) errno = EIO;
      return false;
    }
    data += written;
    size -= static_cast<size_t>(written);
    offset += static_cast<uint64_t>(written);
  }
  return true;
}

bool WriteAll(int fd, const std::string& text) {
  return WriteAll(fd, reinterpret_cast<const uint8_t*>(text.data()), text.size(), 0);
}

// Writes `text` over a file that has blocks for it; false if it has not, or if that fails.
bool WriteOver(const std::string& path, const std::string& text) {
  constexpr size_t kBlock = 512;  // the unit of st_blocks
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return false;
  struct stat status = {};
  const bool fits = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                    status.st_uid == geteuid() &&
                    text.size() <= static_cast<size_t>(status.st_blocks) * kBlock;
  const bool is_written =
      fits && WriteAll(fd, text) && ftruncate(fd, static_cast<off_t>(text.size())) == 0;
  return close(fd) == 0 && is_written;
}

}  // namespace

AppendFile::~AppendFile() {
  if (fd_ >= 0) close(fd_);
}

bool AppendFile::Write() {
  if (fd_ < 0) fd_ = OpenNew(path_);
  if (fd_ < 0) return false;
  return WriteAll(fd_, buffer_.data(), buffer_.size(), size_);
}

void AppendFile::Flush() {
  if (buffer_.empty()) return;
  if (Write()) {
    size_ += buffer_.size();
    records_ += pending_;
  } else {
    error_ = errno;
    lost_ += pending_;
    // If this also fails, the next batch overwrites it.
    if (fd_ >= 0) static_cast<void>(!ftruncate(fd_, static_cast<off_t>(size_)));
  }
  pending_ = 0;
  buffer_.clear();
}

int ReplaceFile(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".tmp";
  const int fd = OpenNew(temporary);
  if (fd < 0) return errno;
  int error = 0;
  if (!WriteAll(fd, text)) error = errno;
  if (close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) unlink(temporary.c_str());
  return error == ENOSPC && WriteOver(path, text) ? 0 : error;
}

}  // namespace steplens::collect
