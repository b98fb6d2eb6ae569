#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/descriptor.h"
#include "base/gzip.h"
#include "base/roots.h"

namespace steplens {
namespace {

Error SystemError(std::string_view path, std::string_view action, int error) {
  const ErrorCode code = error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo;
  return {code, fmt::format("{}: cannot {}: {}", path, action, std::strerror(error))};
}

// The path by which processes of this machine can open a file that has no name yet.
std::string PathOfNameless(int fd) { return fmt::format("/proc/{}/fd/{}", ::getpid(), fd); }
bool IsNameless(std::string_view path) { return path.starts_with("/proc/"); }

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

Result<std::string> ReadFile(const std::string& path) {
  SL_ASSIGN_OR_RETURN(const FileStamp stamp, StatFile(path));
  return ReadFileRange(path, 0, stamp.size_bytes);
}

Result<MappedFile> MappedFile::Open(const std::string& path) {
  SL_ASSIGN_OR_RETURN(const OpenedFile file, OpenForReading(path));
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

namespace {

// A file without a name in the folder of `path`: if the process ends in whatever way before it gets
// one, nothing stays. -1 where the file system has none, or where it could not be given its name.
int OpenNameless(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == path.npos ? "." : path.substr(0, slash + 1);
  const int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) return -1;
  if (::access(PathOfNameless(fd).c_str(), W_OK) == 0) return fd;
  ::close(fd);
  return -1;
}

// Gives it the name, in place of whatever has it.
bool NameIt(const std::string& nameless, const std::string& path) {
  const auto link_as = [&](const std::string& name) {
    return ::linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
  };
  if (link_as(path)) return true;
  if (errno != EEXIST) return false;
  // A link replaces nothing, but renaming does.
  static std::atomic<uint32_t> count = 0;
  std::string name;
  do {
    name = path + "." + std::to_string(::getpid()) + "." + std::to_string(count++);
  } while (!link_as(name) && errno == EEXIST);
  if (::rename(name.c_str(), path.c_str()) == 0) return true;
  const int error = errno;
  ::unlink(name.c_str());
  errno = error;
  return false;
}

}  // namespace

Result<AtomicFile> AtomicFile::Create(const std::string& path) {
  if (const int fd = OpenNameless(path); fd >= 0) {
    ::fchmod(fd, 0644);
    return AtomicFile(path, PathOfNameless(fd), fd);
  }
  std::string temporary = path + ".XXXXXX";
  const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) {
    Error error = SystemError(path, "create", errno);
    error.code = ErrorCode::kIo;  // a folder that is missing is no input that is missing
    return error;
  }
  ::fchmod(fd, 0644);
  return AtomicFile(path, std::move(temporary), fd);
}

AtomicFile::~AtomicFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  if (!IsNameless(temporary_)) ::unlink(temporary_.c_str());
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      fd_(std::exchange(other.fd_, -1)) {}

namespace {

// Files that are written in large pieces are likely to become large.
constexpr size_t kLargeWrite = size_t{1} << 18;

// Asks for the space that the write and those after it will need, 16 MB at a time: a quarter of
// what writing costs is to find it page by page. Whether it can be had is seen when it is written.
void ReserveAhead(int fd, size_t size) {
  constexpr off_t kStep = off_t{16} << 20;
  const off_t begin = ::lseek(fd, 0, SEEK_CUR);
  if (begin < 0) return;
  const off_t reserved = (begin + kStep - 1) / kStep * kStep;
  const off_t end = begin + static_cast<off_t>(size);
  if (end <= reserved) return;
  [[maybe_unused]] const int ignored =
      ::fallocate(fd, FALLOC_FL_KEEP_SIZE, reserved, (end - reserved + kStep - 1) / kStep * kStep);
}

// Gives back what was reserved and not written.
void ReleaseRest(int fd) {
  const off_t size = ::lseek(fd, 0, SEEK_CUR);
  if (size < static_cast<off_t>(kLargeWrite)) return;
  [[maybe_unused]] const int ignored = ::ftruncate(fd, size);
}

}  // namespace

Status AtomicFile::Write(const void* data, size_t size) {
  const char* bytes = static_cast<const char*>(data);
  if (size >= kLargeWrite) ReserveAhead(fd_, size);
  while (size > 0) {
    const ssize_t put = ::write(fd_, bytes, size);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return SystemError(path_, "write", errno);
    bytes += put;
    size -= static_cast<size_t>(put);
  }
  return {};
}

Status AtomicFile::Commit() {
  const int fd = std::exchange(fd_, -1);
  ReleaseRest(fd);
  if (IsNameless(temporary_)) {
    const bool has_name = NameIt(temporary_, path_);
    const int error = errno;
    if (::close(fd) != 0 || !has_name) return SystemError(path_, "write", has_name ? errno : error);
    return {};
  }
  if (::close(fd) != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary_.c_str());
    return SystemError(path_, "write", error);
  }
  return {};
}

namespace {

Status WriteStretch(int fd, const std::string& path, uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return SystemError(path, "write", errno);
    bytes.remove_prefix(static_cast<size_t>(put));
    offset += static_cast<uint64_t>(put);
  }
  return {};
}

Result<uint64_t> IdOf(int fd, const std::string& path) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) return SystemError(path, "read", errno);
  return static_cast<uint64_t>(info.st_ino);
}

}  // namespace

Status AtomicFile::Reserve(uint64_t size) {
  if (size == 0) return {};
  if (::fallocate(fd_, 0, 0, static_cast<off_t>(size)) == 0) return {};
  const bool is_unknown = errno == EOPNOTSUPP || errno == ENOSYS;
  if (is_unknown && ::ftruncate(fd_, static_cast<off_t>(size)) == 0) return {};
  return SystemError(path_, "write", errno);
}

Status AtomicFile::WriteAt(uint64_t offset, std::string_view bytes) {
  return WriteStretch(fd_, path_, offset, bytes);
}

Status AtomicFile::Flush() {
  if (::fsync(fd_) == 0) return {};
  return SystemError(path_, "write", errno);
}

Result<uint64_t> AtomicFile::Id() const { return IdOf(fd_, path_); }

Result<FileStretches> FileStretches::Open(const std::string& path, uint64_t id, std::string name) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return SystemError(path, "open", errno);
  FileStretches file(std::move(name), fd);
  SL_ASSIGN_OR_RETURN(const uint64_t found, IdOf(fd, path));
  if (found != id) return Error{ErrorCode::kNotFound, path + ": is another file here"};
  return file;
}

FileStretches::~FileStretches() {
  if (fd_ >= 0) ::close(fd_);
}

FileStretches::FileStretches(FileStretches&& other) noexcept
    : name_(std::move(other.name_)), fd_(std::exchange(other.fd_, -1)) {}

Status FileStretches::WriteAt(uint64_t offset, std::string_view bytes) {
  return WriteStretch(fd_, name_, offset, bytes);
}

Status FileStretches::Close() {
  if (::close(std::exchange(fd_, -1)) == 0) return {};
  return SystemError(name_, "write", errno);
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
