#pragma once

#include <string>

#include "base/status.h"

namespace steplens::table {

// A new empty file beside another, for a library that writes by name; removed unless it takes the
// other's place.
class TemporaryFile {
 public:
  static Result<TemporaryFile> CreateBeside(const std::string& path);
  ~TemporaryFile();
  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&&) = delete;

  const std::string& name() const { return name_; }
  Status RenameTo(const std::string& path);

 private:
  explicit TemporaryFile(std::string name) : name_(std::move(name)) {}
  std::string name_;
};

}  // namespace steplens::table
