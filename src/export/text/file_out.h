#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace steplens::exporting {

// A text file written front to back in large pieces; packed with gzip if its name ends in ".gz".
// It appears under its name when Commit succeeds, and not at all otherwise. Not thread safe.
class FileOut {
 public:
  static Result<FileOut> Create(const std::string& path);
  ~FileOut();
  FileOut(FileOut&&) noexcept;
  FileOut& operator=(FileOut&&) = delete;

  // Append here, then call Tick from time to time: it writes what has gathered once that is much.
  // An error is kept for Commit.
  std::string& text() { return text_; }
  void Tick() {
    if (text_.size() >= kPieceBytes) Flush();
  }
  Status Commit();

 private:
  static constexpr size_t kPieceBytes = size_t{1} << 20;
  struct Impl;
  explicit FileOut(std::unique_ptr<Impl> impl);
  void Flush();

  std::string text_;
  std::unique_ptr<Impl> impl_;
};

// The whole text as a file.
Status WriteWholeFile(const std::string& path, std::string_view text);

}  // namespace steplens::exporting
