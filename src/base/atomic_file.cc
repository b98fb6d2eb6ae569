#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/number.h"
#include "base/readability.h"
#include "base/system_error.h"

namespace steplens {
namespace {

// The path by which processes of this machine can open a file that has no name yet.
std::string PathOfNameless(int fd) { return fmt::format("/proc/{}/fd/{}", ::getpid(), fd); }
bool IsNameless(std::string_view path) { return path.starts_with("/proc/"); }

// A file without a name in the folder of `path`: if the process ends in whatever way before it gets
// one, nothing stays. -1 where the file system has none, or where it could not be given its name.
int OpenNameless(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == path.npos ? "." : path.substr(0, slash + 1);
  const int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, ReadersOfInputs());
  if (fd < 0) return -1;
  if (::access(PathOfNameless(fd).c_str(), W_OK) == 0) return fd;
  ::close(fd);
  return -1;
}

// Names that nobody takes for the file itself: PATH.tmp-HOST-PID-N. The machine is in it because
// several may share the folder, and only here it is known whether the process lives.
std::string TemporaryPrefix(const std::string& path) {
  char host[256] = "";
  ::gethostname(host, sizeof(host) - 1);
  return fmt::format("{}.tmp-{}-", path, host);
}

std::string NewTemporaryName(const std::string& path) {
  static std::atomic<uint32_t> count = 0;
  return fmt::format("{}{}-{}", TemporaryPrefix(path), ::getpid(), count++);
}

// Removes what processes of this machine that were killed have left of `path`.
void RemoveLeftOvers(const std::string& path) {
  namespace fs = std::filesystem;
  const std::string prefix = TemporaryPrefix(path);
  const fs::path folder = fs::path(path).parent_path();
  std::vector<fs::path> dead;
  std::error_code error;
  for (fs::directory_iterator it(folder.empty() ? "." : folder, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = (folder / it->path().filename()).string();
    if (!name.starts_with(prefix)) continue;
    const std::string_view rest = std::string_view(name).substr(prefix.size());
    const std::optional<int64_t> pid = ParseInt64(rest.substr(0, rest.find('-')));
    const bool is_gone =
        pid && *pid > 0 && ::kill(static_cast<pid_t>(*pid), 0) != 0 && errno == ESRCH;
    if (is_gone) dead.push_back(name);
  }
  for (const fs::path& one : dead) fs::remove(one, error);
}

// Gives it the name, in place of whatever has it.
bool NameIt(const std::string& nameless, const std::string& path) {
  const auto link_as = [&](const std::string& name) {
    return ::linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
  };
  if (link_as(path)) return true;
  if (errno != EEXIST) return false;
  // A link replaces nothing, but renaming does.
  RemoveLeftOvers(path);
  std::string name;
  do {
    name = NewTemporaryName(path);
  } while (!link_as(name) && errno == EEXIST);
  if (::rename(name.c_str(), path.c_str()) == 0) return true;
  const int error = errno;
  ::unlink(name.c_str());
  errno = error;
  return false;
}

}  // namespace

Result<AtomicFile> AtomicFile::Create(const std::string& path) {
  if (const int fd = OpenNameless(path); fd >= 0) return AtomicFile(path, PathOfNameless(fd), fd);
  RemoveLeftOvers(path);
  std::string temporary;
  int fd = -1;
  do {
    temporary = NewTemporaryName(path);
    fd = ::open(temporary.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC,
                ReadersOfInputs());
  } while (fd < 0 && errno == EEXIST);
  if (fd < 0) {
    Error error = SystemError(path, "create", errno);
    error.code = ErrorCode::kIo;  // a folder that is missing is no input that is missing
    return error;
  }
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

// Inputs that were read since the file was made may have fewer readers.
void CloseToStrangers(int fd) {
  struct stat info{};
  if (::fstat(fd, &info) != 0 || (info.st_mode & 0777 & ~ReadersOfInputs()) == 0) return;
  ::fchmod(fd, info.st_mode & ReadersOfInputs());
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

void AtomicFile::MakePrivate() { ::fchmod(fd_, S_IRUSR | S_IWUSR); }

Status AtomicFile::CommitDurably() {
  ReleaseRest(fd_);
  SL_RETURN_IF_ERROR(Flush());
  return Commit();
}

Status AtomicFile::Commit() {
  const int fd = std::exchange(fd_, -1);
  ReleaseRest(fd);
  CloseToStrangers(fd);
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

}  // namespace steplens
