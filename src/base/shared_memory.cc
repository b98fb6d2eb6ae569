#include "base/shared_memory.h"

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

}  // namespace

Result<SharedMemory> SharedMemory::Create() {
  const int fd = ::memfd_create("steplens", MFD_CLOEXEC);
  if (fd < 0) return ShareError("make", errno);
  return SharedMemory(fd);
}

SharedMemory::~SharedMemory() {
  if (fd_ >= 0) ::close(fd_);
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), size_(other.size_.load()) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(fd_, other.fd_);
  size_ = other.size_.exchange(size_);
  return *this;
}

Result<uint64_t> SharedMemory::Append(std::string_view bytes) {
  const uint64_t offset = size_.fetch_add(bytes.size());
  for (size_t written = 0; written < bytes.size();) {
    const ssize_t got = ::pwrite(fd_, bytes.data() + written, bytes.size() - written,
                                 static_cast<off_t>(offset + written));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return ShareError("write", got < 0 ? errno : ENOSPC);
    written += static_cast<size_t>(got);
  }
  return offset;
}

SharedPlace SharedMemory::place() const {
  return {fmt::format("/proc/{}/fd/{}", ::getpid(), fd_), IdOfMemory(fd_), size_};
}

Result<SharedView> SharedMemory::View() const { return SharedView::Map(fd_, size_); }

Result<SharedView> SharedView::Map(int fd, uint64_t size) {
  if (size == 0) return SharedView({});
  void* const bytes = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  if (bytes == MAP_FAILED) return ShareError("map", errno);
  return SharedView({static_cast<const char*>(bytes), size});
}

Result<SharedView> SharedView::Open(const SharedPlace& place) {
  const int fd = ::open(place.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return Error{ErrorCode::kNotFound, place.path + ": " + std::strerror(errno)};
  const bool is_it = IdOfMemory(fd) == place.id;
  Result<SharedView> view = Map(fd, is_it ? place.size : 0);
  ::close(fd);
  if (!is_it) return Error{ErrorCode::kNotFound, place.path + ": is another file here"};
  return view;
}

SharedView::~SharedView() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

SharedView::SharedView(SharedView&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

SharedView& SharedView::operator=(SharedView&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

}  // namespace steplens
