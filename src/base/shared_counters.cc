#include "base/shared_bytes.h"

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

Result<std::unique_ptr<SharedBytes>> SharedBytes::Create() {
  SL_ASSIGN_OR_RETURN(const int fd, MakeMemory());
  return std::unique_ptr<SharedBytes>(new SharedBytes(fd, PlaceOf(fd)));
}

SharedBytes::~SharedBytes() { ::close(fd_); }

Result<uint64_t> SharedBytes::Append(std::string_view bytes) {
  const std::lock_guard lock(state_);
  const uint64_t begin = size_;
  while (error_ == 0 && !bytes.empty()) {
    const ssize_t put = ::write(fd_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      error_ = put < 0 ? errno : ENOSPC;
      break;
    }
    bytes.remove_prefix(static_cast<size_t>(put));
    size_ += static_cast<uint64_t>(put);
  }
  if (error_ != 0) return ShareError("write", error_);
  return begin;
}

Result<SharedView> SharedBytes::View() const {
  return SharedView::Map(fd_, static_cast<size_t>(size_));
}

Result<SharedView> SharedView::Open(const SharedPlace& place) {
  SL_ASSIGN_OR_RETURN(const int fd, OpenMemory(place, O_RDONLY));
  struct stat info{};
  ::fstat(fd, &info);
  Result<SharedView> view = Map(fd, static_cast<size_t>(info.st_size));
  ::close(fd);
  return view;
}

Result<SharedView> SharedView::Map(int fd, size_t size) {
  if (size == 0) return SharedView(nullptr, 0);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) return ShareError("map", errno);
  return SharedView(static_cast<const char*>(data), size);
}

SharedView::~SharedView() {
  if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
}

SharedView::SharedView(SharedView&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

SharedView& SharedView::operator=(SharedView&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

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
