#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/json.h"
#include "base/status.h"

namespace steplens::readers {

// One result file: on disk, or in memory for tests and fuzzing.
struct TextInput {
  std::string path;
  std::optional<std::string_view> bytes;  // read instead of the file; not owned

  // For the examples of issues, which are listed per rank.
  std::string_view base_name() const {
    return std::string_view(path).substr(path.find_last_of('/') + 1);
  }
  // 0 if it cannot be told.
  uint64_t SizeBytes() const {
    if (bytes) return bytes->size();
    const Result<FileStamp> stamp = StatFile(path);
    return stamp.ok() ? stamp->size_bytes : 0;
  }
  Result<std::unique_ptr<ByteSource>> Open() const {
    if (bytes) return MakeMemorySource(*bytes);
    return OpenByteSource(path);
  }
  // `max_bytes`: a larger file is refused.
  Result<JsonDocument> ParseJson(uint64_t max_bytes = kMaxSmallFile) const {
    if (bytes) return JsonDocument::Parse(*bytes, path);
    return JsonDocument::ReadFile(path, max_bytes);
  }
};

}  // namespace steplens::readers
