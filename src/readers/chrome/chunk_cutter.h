#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/status.h"
#include "readers/chrome/event_parser.h"

namespace steplens::readers {

// A run of whole events (as far as can be seen), with room for the parser: '[' before it, ']'
// behind it.
class TracePiece {
 public:
  std::string_view text() const { return {buffer_.data() + 1, size_}; }  // padded for the parser
  // The same run as a JSON array of the first `size` bytes, padded for the parser.
  std::string_view AsArray(size_t size);
  uint64_t offset() const { return offset_; }  // of text()[0] in the whole trace
  bool is_last() const { return is_last_; }

 private:
  friend class ChunkCutter;
  std::vector<char> buffer_ = std::vector<char>(1, '[');
  size_t size_ = 0;
  uint64_t offset_ = 0;
  bool is_last_ = false;
};

// Cuts the text of a trace into pieces of about `chunk_bytes` at places that look like event
// borders.
class ChunkCutter {
 public:
  ChunkCutter(ByteSource& source, std::string name, size_t chunk_bytes)
      : source_(source), name_(std::move(name)), chunk_bytes_(chunk_bytes) {}

  // Finds the array of events. Array form: head() is empty. Object form: head() is the text before
  // the array, from the opening brace up to the key 'traceEvents'.
  Status ReadHead();
  const std::string& head() const { return head_; }

  // The next piece; false after the last one.
  bool Next(TracePiece& piece);

  // Why reading stopped early (a damaged gzip stream, an I/O error); ok otherwise. Valid after the
  // last piece.
  const Status& source_status() const { return source_status_; }

 private:
  // Appends up to `size` bytes of the source to `buffer`; false at the end.
  bool Fill(std::vector<char>& buffer, size_t& have, size_t size);

  ByteSource& source_;
  const std::string name_;
  const size_t chunk_bytes_;
  std::string head_;
  std::string pending_;  // read, and not handed out yet
  uint64_t offset_ = 0;  // of pending_[0]
  bool at_end_ = false;
  bool finished_ = false;
  Status source_status_;
};

}  // namespace steplens::readers
