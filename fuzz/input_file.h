#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace steplens::fuzz {

// The bytes of an input as a file of this process, for readers that open by name (SQLite). Removed
// at the end.
class InputFile {
 public:
  InputFile(const std::string& target, const uint8_t* data, size_t size)
      : path_("/tmp/" + target + "." + std::to_string(::getpid()) + ".db") {
    const int fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0) return;
    [[maybe_unused]] const ssize_t written = ::write(fd, data, size);
    ::close(fd);
  }
  ~InputFile() { ::unlink(path_.c_str()); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace steplens::fuzz
