#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "export/text/text_buffer.h"

namespace steplens::exporting {

// A text file written front to back in pieces; packed with gzip if its name ends in ".gz". Nothing
// exists before the first piece is written; the file appears under its name when Commit succeeds,
// and not at all otherwise. Not thread safe.
class FileOut {
 public:
  explicit FileOut(std::string path);
  ~FileOut();
  FileOut(const FileOut&) = delete;
  FileOut& operator=(const FileOut&) = delete;

  // Append here, then call Tick from time to time: it writes what has gathered once that is much.
  // An error is kept for Commit.
  TextBuffer& text() { return text_; }
  void Tick() {
    if (text_.size() >= kPieceBytes) Flush();
  }
  Status Commit();

 private:
  // Fits into the cache of a core; smaller ones cost the system more a byte.
  static constexpr size_t kPieceBytes = size_t{1} << 19;
  struct Impl;
  void Flush();

  TextBuffer text_;
  std::unique_ptr<Impl> impl_;
};

// The whole text as a file.
Status WriteWholeFile(const std::string& path, std::string_view text);

}  // namespace steplens::exporting
