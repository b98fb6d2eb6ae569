#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/descriptor.h"
#include "base/gzip.h"
#include "base/roots.h"
#include "base/system_error.h"

namespace steplens {
namespace {

struct OpenedFile {
  Descriptor fd;
  struct stat info;
};

// What stands in the place of a file; empty for a file.
std::string_view NotAFile(mode_t mode) {
  if (S_ISREG(mode)) return "";
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  return "a device or socket";
}

Result<OpenedFile> OpenForReading(const std::string& path) {
  // Without O_NONBLOCK a pipe that nobody writes to would be waited for.
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) return SystemError(path, "open", errno);
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return SystemError(path, "read its size", errno);
  if (const std::string_view found = NotAFile(info.st_mode); !found.empty()) {
    return Error{ErrorCode::kCorruptData,
                 fmt::format("{}: is {}, a file was expected", path, found)};
  }
  if (LeavesRoots(path, fd.get()))
    return Error{ErrorCode::kIo, fmt::format("{}: {}", path, kLeavesRoots)};
  return OpenedFile{std::move(fd), info};
}

class PlainSource : public ByteSource {
 public:
  PlainSource(Descriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  Result<size_t> Read(char* buffer, size_t size) override {
    const ssize_t got = ::read(fd_.get(), buffer, size);
    if (got < 0) return SystemError(path_, "read", errno);
    position_ += static_cast<uint64_t>(got);
    return static_cast<size_t>(got);
  }
  uint64_t file_position() const override { return position_; }

 private:
  Descriptor fd_;
  std::string path_;
  uint64_t position_ = 0;
};

class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes) : bytes_(bytes) {}
  Result<size_t> Read(char* buffer, size_t size) override {
    size = std::min(size, bytes_.size() - position_);
    if (size > 0) std::memcpy(buffer, bytes_.data() + position_, size);
    position_ += size;
    return size;
  }
  uint64_t file_position() const override { return position_; }

 private:
  std::string_view bytes_;
  size_t position_ = 0;
};

}  // namespace

Result<FileStamp> StatFile(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return SystemError(path, "look at", errno);
  return FileStamp{static_cast<uint64_t>(info.st_size),
                   int64_t{info.st_mtim.tv_sec} * 1000000000 + info.st_mtim.tv_nsec};
}

Result<std::string> ReadFileRange(const std::string& path, uint64_t offset, size_t size) {
  SL_ASSIGN_OR_RETURN(const OpenedFile file, OpenForReading(path));
  std::string out(size, '\0');
  size_t have = 0;
  while (have < size) {
    const ssize_t got =
        ::pread(file.fd.get(), out.data() + have, size - have, static_cast<off_t>(offset + have));
    if (got < 0) return SystemError(path, "read", errno);
    if (got == 0) break;
    have += static_cast<size_t>(got);
  }
  out.resize(have);
  return out;
}

Result<std::string> ReadFile(const std::string& path, uint64_t max_bytes) {
  SL_ASSIGN_OR_RETURN(const FileStamp stamp, StatFile(path));
  if (stamp.size_bytes > max_bytes) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("{}: has {} bytes; a file of its kind is read up to {} MiB", path,
                             stamp.size_bytes, max_bytes >> 20)};
  }
  return ReadFileRange(path, 0, stamp.size_bytes);
}

Result<MappedFile> MappedFile::Open(const std::string& path) {
  SL_ASSIGN_OR_RETURN(const OpenedFile file, OpenForReading(path));
  if (file.info.st_uid != ::geteuid()) {
    return Error{ErrorCode::kIo, fmt::format("{}: belongs to another user and is not used", path)};
  }
  const auto size = static_cast<size_t>(file.info.st_size);
  if (size == 0) return MappedFile(nullptr, 0);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file.fd.get(), 0);
  if (data == MAP_FAILED) return SystemError(path, "map", errno);
  return MappedFile(static_cast<const std::byte*>(data), size);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Result<std::unique_ptr<ByteSource>> OpenByteSource(const std::string& path) {
  SL_ASSIGN_OR_RETURN(OpenedFile file, OpenForReading(path));
  unsigned char magic[2] = {};
  const ssize_t got = ::pread(file.fd.get(), magic, sizeof(magic), 0);
  auto plain = std::make_unique<PlainSource>(std::move(file.fd), path);
  if (got == 2 && magic[0] == 0x1f && magic[1] == 0x8b) {
    return MakeGzipSource(std::move(plain), path);
  }
  return std::unique_ptr<ByteSource>(std::move(plain));
}

std::unique_ptr<ByteSource> MakeMemorySource(std::string_view bytes) {
  return std::make_unique<MemorySource>(bytes);
}

}  // namespace steplens
