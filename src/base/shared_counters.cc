#include "base/shared_counters.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace steplens {
namespace {

Error ShareError(std::string_view action, int error) {
  return {ErrorCode::kIo,
          fmt::format("memory for other processes: cannot {}: {}", action, std::strerror(error))};
}

uint64_t IdOfMemory(int fd) {
  struct stat info{};
  ::fstat(fd, &info);
  return static_cast<uint64_t>(info.st_ino);
}

SharedPlace PlaceOf(int fd) {
  return {fmt::format("/proc/{}/fd/{}", ::getpid(), fd), IdOfMemory(fd)};
}

Result<int> MakeMemory() {
  const int fd = ::memfd_create("steplens", MFD_CLOEXEC);
  if (fd < 0) return ShareError("make", errno);
  return fd;
}

Result<int> OpenMemory(const SharedPlace& place, int mode) {
  const int fd = ::open(place.path.c_str(), mode | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return ShareError("open", errno);
  if (IdOfMemory(fd) == place.id) return fd;
  ::close(fd);
  return Error{ErrorCode::kNotFound, place.path + ": is another file here"};
}

}  // namespace

Result<SharedCounters> SharedCounters::Create(size_t count) {
  SL_ASSIGN_OR_RETURN(const int fd, MakeMemory());
  if (::ftruncate(fd, static_cast<off_t>(count * sizeof(uint64_t))) != 0) {
    const Error error = ShareError("write", errno);
    ::close(fd);
    return error;
  }
  return Map(fd, count, PlaceOf(fd));
}

Result<SharedCounters> SharedCounters::Open(const SharedPlace& place, size_t count) {
  SL_ASSIGN_OR_RETURN(const int fd, OpenMemory(place, O_RDWR));
  return Map(fd, count, place);
}

Result<SharedCounters> SharedCounters::Map(int fd, size_t count, SharedPlace place) {
  void* const numbers =
      ::mmap(nullptr, count * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (numbers == MAP_FAILED) {
    const Error error = ShareError("map", errno);
    ::close(fd);
    return error;
  }
  return SharedCounters(fd, static_cast<uint64_t*>(numbers), count, std::move(place));
}

SharedCounters::~SharedCounters() {
  if (fd_ < 0) return;
  ::munmap(numbers_, count_ * sizeof(uint64_t));
  ::close(fd_);
}

SharedCounters::SharedCounters(SharedCounters&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      numbers_(other.numbers_),
      count_(other.count_),
      place_(std::move(other.place_)) {}

}  // namespace steplens
