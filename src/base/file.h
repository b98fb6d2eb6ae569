#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace steplens {

// Size and time of the last change. What tells versions of a file apart is FileVersion.
struct FileStamp {
  uint64_t size_bytes = 0;
  int64_t mtime_ns = 0;
};
Result<FileStamp> StatFile(const std::string& path);

// What a file that is read whole may have at the most: settings and names, and tables.
inline constexpr uint64_t kMaxSmallFile = uint64_t{64} << 20;
inline constexpr uint64_t kMaxWholeFile = uint64_t{2} << 30;

// The whole file as bytes. kUnsupported if it has more than `max_bytes`.
Result<std::string> ReadFile(const std::string& path, uint64_t max_bytes = kMaxSmallFile);

// Up to `size` bytes at `offset`; shorter at the end of the file.
Result<std::string> ReadFileRange(const std::string& path, uint64_t offset, size_t size);

// A private read-only view of a whole file, for files of our own (the cache). User files are read,
// not mapped: a file that shrinks while mapped kills the process.
class MappedFile {
 public:
  // Of this user alone: kIo for what belongs to somebody else, who could have put anything there.
  static Result<MappedFile> Open(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  MappedFile(const std::byte* data, size_t size) : data_(data), size_(size) {}
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// A file that appears whole under its name, or not at all: written beside it and renamed by Commit.
// Who may read it: as the umask says, and nobody who cannot read all that was read to make it
// (base/readability.h).
class AtomicFile {
 public:
  static Result<AtomicFile> Create(const std::string& path);
  ~AtomicFile();
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  Status Write(const void* data, size_t size);
  Status Commit();
  // The same, for results that people keep: on the disk before it gets its name.
  Status CommitDurably();
  void MakePrivate();  // for this user alone

  // For a file whose size is known and that several processes write, each its own stretches.
  Status Reserve(uint64_t size);  // with the space on the disk, where the file system can
  Status WriteAt(uint64_t offset, std::string_view bytes);
  const std::string& path() const { return path_; }
  const std::string& temporary_path() const { return temporary_; }
  Result<uint64_t> Id() const;  // what its file system calls it

  // For a library that reads and writes the file itself.
  int fd() const { return fd_; }
  Status Flush();  // to the disk

 private:
  AtomicFile(std::string path, std::string temporary, int fd)
      : path_(std::move(path)), temporary_(std::move(temporary)), fd_(fd) {}
  std::string path_;
  std::string temporary_;
  int fd_ = -1;
};

// Such a file in a process that only writes stretches of it; who made it commits it.
class FileStretches {
 public:
  // kNotFound unless there is a file of this path and id; errors speak of `name`.
  static Result<FileStretches> Open(const std::string& path, uint64_t id, std::string name);
  ~FileStretches();
  FileStretches(FileStretches&& other) noexcept;
  FileStretches& operator=(FileStretches&&) = delete;
  Status WriteAt(uint64_t offset, std::string_view bytes);
  Status Close();  // where a network file system reports what went wrong

 private:
  FileStretches(std::string name, int fd) : name_(std::move(name)), fd_(fd) {}
  std::string name_;
  int fd_ = -1;
};

// Text read front to back in pieces: a plain file, or a gzip stream (one member or several)
// unpacked on the fly.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills up to `size` bytes; 0 at the end. A damaged gzip stream gives what could be unpacked,
  // then an error; kUnsupported if only what follows its end cannot be used.
  virtual Result<size_t> Read(char* buffer, size_t size) = 0;
  // Bytes of the file consumed so far, for progress.
  virtual uint64_t file_position() const = 0;
};
// Chooses by content (the gzip magic), not by name.
Result<std::unique_ptr<ByteSource>> OpenByteSource(const std::string& path);
std::unique_ptr<ByteSource> MakeMemorySource(std::string_view bytes);  // `bytes` must outlive it

}  // namespace steplens
