#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace steplens::collect {

// A file that grows by whole batches of records. Add to buffer() and count the records; Flush
// writes all of them or, if the disk refuses, none: the file is cut back to its last whole batch,
// the batch is counted as lost, and the next one is tried again. The file is made with the first
// batch.
class AppendFile {
 public:
  explicit AppendFile(std::string path) : path_(std::move(path)) {}
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  std::vector<uint8_t>& buffer() { return buffer_; }
  void CountRecords(uint64_t count) { pending_ += count; }
  // Flushes if more than a piece waits.
  void FlushIfLarge() {
    if (buffer_.size() >= kPiece) Flush();
  }
  void Flush();

  const std::string& path() const { return path_; }
  uint64_t records() const { return records_; }  // in the file
  uint64_t lost() const { return lost_; }
  uint64_t bytes() const { return size_; }
  int error() const { return error_; }  // errno of the last failure; 0: none

 private:
  static constexpr size_t kPiece = 1 << 20;
  bool Write();

  const std::string path_;
  std::vector<uint8_t> buffer_;
  uint64_t pending_ = 0;
  uint64_t records_ = 0;
  uint64_t lost_ = 0;
  uint64_t size_ = 0;
  int fd_ = -1;
  int error_ = 0;
};

// Replaces `path` by `text` at once: readers see the old or the new one. On a full disk the old one
// is written over, if its blocks are enough. 0 or errno; the old one then stays.
int ReplaceFile(const std::string& path, const std::string& text);

}  // namespace steplens::collect
