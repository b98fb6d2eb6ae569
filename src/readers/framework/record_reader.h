#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/status.h"
#include "store/issues.h"

namespace steplens::readers {

static_assert(std::endian::native == std::endian::little, "records are copied as they are");

// A little-endian number at `offset`, which must lie inside `bytes`.
template <typename T>
T LoadAt(std::string_view bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

// Splits a raw file into its records, front to back, with bounded memory. A file that ends inside a
// record, as one of a killed job does, ends before it; that is counted.
class RecordReader {
 public:
  // No real record is near this size; one with damaged length would be.
  static constexpr size_t kMaxRecordBytes = size_t{64} << 20;
  static constexpr size_t kBlockBytes = size_t{1} << 20;

  // `issues` must outlive the reader; `name` is used in messages.
  RecordReader(std::unique_ptr<ByteSource> source, std::string name, store::IssueLog& issues,
               size_t block_bytes = kBlockBytes);

  // Moves to the next record of the form  type:u16 length:u32 value[length].  False at the end.
  Result<bool> NextFramed();
  // Moves to the next record of a fixed size.
  Result<bool> NextFixed(size_t bytes);

  // The record's value. Valid until the next call.
  std::string_view value() const { return value_; }
  // Counts the present record as unusable.
  void Reject(std::string_view reason);

  store::IssueLog& issues() { return issues_; }
  const std::string& name() const { return name_; }

 private:
  // Makes `bytes` bytes from pos_ on available; false if the file ends before.
  Result<bool> Fill(size_t bytes);
  void CountTail(std::string_view reason);

  std::unique_ptr<ByteSource> source_;
  std::string name_;
  store::IssueLog& issues_;
  size_t block_bytes_;
  std::vector<char> buffer_;  // bytes [pos_, end_) are not consumed yet
  size_t pos_ = 0;
  size_t end_ = 0;
  uint64_t consumed_ = 0;  // offset in the file of pos_
  uint64_t record_offset_ = 0;
  bool source_ended_ = false;
  std::string_view value_;
};

// Visits the fields behind a record's fixed part:  tag:u16 length:u32 text.  False, after the
// fields before it, if one runs over the end.
template <typename Visitor>
bool ForEachField(std::string_view bytes, Visitor&& visit) {
  constexpr size_t kHeader = 6;
  while (!bytes.empty()) {
    if (bytes.size() < kHeader) return false;
    const auto tag = LoadAt<uint16_t>(bytes, 0);
    const size_t length = LoadAt<uint32_t>(bytes, 2);
    if (length > bytes.size() - kHeader) return false;
    visit(tag, bytes.substr(kHeader, length));
    bytes.remove_prefix(kHeader + length);
  }
  return true;
}

}  // namespace steplens::readers
