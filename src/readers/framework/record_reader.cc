#include "readers/framework/record_reader.h"

#include <fmt/format.h>

#include <algorithm>

namespace steplens::readers {

using store::IssueKind;

RecordReader::RecordReader(std::unique_ptr<ByteSource> source, std::string name,
                           store::IssueLog& issues, size_t block_bytes)
    : source_(std::move(source)), name_(std::move(name)), issues_(issues), buffer_(block_bytes) {}

Result<bool> RecordReader::Fill(size_t bytes) {
  if (end_ - pos_ >= bytes) return true;
  if (pos_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + pos_, end_ - pos_);
    end_ -= pos_;
    pos_ = 0;
  }
  while (end_ < bytes && !source_ended_) {
    // Grows with what the file really holds, never to what a damaged length claims.
    if (end_ == buffer_.size()) buffer_.resize(buffer_.size() * 2);
    SL_ASSIGN_OR_RETURN(
        const size_t got,
        source_->Read(reinterpret_cast<char*>(buffer_.data()) + end_, buffer_.size() - end_));
    end_ += got;
    source_ended_ = got == 0;
  }
  return end_ >= bytes;
}

void RecordReader::CountTail(std::string_view reason) {
  issues_.Add(IssueKind::kRecordsTruncated,
              fmt::format("{}: byte {}: {}", name_, record_offset_, reason));
  pos_ = end_ = 0;
  source_ended_ = true;
}

Result<bool> RecordReader::NextFramed() {
  constexpr size_t kHeader = format::kTlvHeaderBytes;
  record_offset_ = consumed_;
  SL_ASSIGN_OR_RETURN(const bool has_header, Fill(kHeader));
  if (!has_header) {
    if (end_ > pos_) CountTail("the file ends inside a record's head");
    return false;
  }
  const format::Bytes header(buffer_.data() + pos_, kHeader);
  type_ = format::Load<uint16_t>(header, 0);
  const size_t length = format::Load<uint32_t>(header, 2);
  if (length > kMaxRecordBytes) {
    CountTail(fmt::format("a record claims {} bytes; the rest of the file is not used", length));
    return false;
  }
  SL_ASSIGN_OR_RETURN(const bool has_value, Fill(kHeader + length));
  if (!has_value) {
    CountTail(fmt::format("the file ends inside a record of {} bytes", length));
    return false;
  }
  value_ = {buffer_.data() + pos_ + kHeader, length};
  pos_ += kHeader + length;
  consumed_ += kHeader + length;
  return true;
}

Result<bool> RecordReader::NextFixed(size_t bytes) {
  record_offset_ = consumed_;
  SL_ASSIGN_OR_RETURN(const bool has_value, Fill(bytes));
  if (!has_value) {
    if (end_ > pos_) CountTail(fmt::format("the file ends inside a record of {} bytes", bytes));
    return false;
  }
  value_ = {buffer_.data() + pos_, bytes};
  pos_ += bytes;
  consumed_ += bytes;
  return true;
}

void RecordReader::Reject(std::string_view reason) {
  if (!issues_.IsFirst(IssueKind::kRecordDamaged)) {
    return issues_.Add(IssueKind::kRecordDamaged, {});
  }
  issues_.Add(IssueKind::kRecordDamaged,
              fmt::format("{}: byte {}: {}", name_, record_offset_, reason));
}

}  // namespace steplens::readers
