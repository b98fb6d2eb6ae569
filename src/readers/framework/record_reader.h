#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/status.h"
#include "format/framework.h"
#include "store/issues.h"

namespace steplens::readers {

// Splits a raw file into its records, front to back, with bounded memory. A file that ends inside a
// record, as one of a killed job does, ends before it; that is counted.
class RecordReader {
 public:
  // No real record is near this size; one with damaged length would be.
  static constexpr size_t kMaxRecordBytes = size_t{64} << 20;
  static constexpr size_t kBlockBytes = size_t{1} << 18;

  // `issues` must outlive the reader; `name` is used in messages.
  RecordReader(std::unique_ptr<ByteSource> source, std::string name, store::IssueLog& issues,
               size_t block_bytes = kBlockBytes);

  // Moves to the next record of the form  type:u16 length:u32 value[length].  False at the end.
  Result<bool> NextFramed();
  // Moves to the next record of a fixed size.
  Result<bool> NextFixed(size_t bytes);

  // The type of a framed record.
  uint16_t type() const { return type_; }
  // The record's value. Valid until the next call.
  format::Bytes value() const { return value_; }
  // Where the record after the present one begins in the file.
  uint64_t offset() const { return consumed_; }
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
  std::vector<uint8_t> buffer_;  // bytes [pos_, end_) are not consumed yet
  size_t pos_ = 0;
  size_t end_ = 0;
  uint64_t consumed_ = 0;  // offset in the file of pos_
  uint64_t record_offset_ = 0;
  bool source_ended_ = false;
  uint16_t type_ = 0;
  format::Bytes value_;
};

// Visits the fields behind a record's fixed part: visit(tag, text). False, after the fields before
// it, if one runs over the end.
template <typename Visitor>
bool ForEachField(format::Bytes value, size_t fixed_bytes, Visitor&& visit) {
  format::TlvReader fields = format::Fields(value, fixed_bytes);
  while (const auto field = fields.Next()) visit(field->type, format::AsText(field->value));
  return !fields.truncated();
}

}  // namespace steplens::readers
