#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"

namespace steplens::readers {

// What the first bytes of a file say it is.
enum class Content : uint8_t { kTrace, kSqlite, kOtherJson, kEmpty, kUnreadable, kOther };

// Reads at most a few dozen KB, unpacking gzip. A JSON array of objects with 'ph', or a JSON object
// with 'traceEvents' or Kineto's own members, is a trace. `reason` says why a file that is none is
// none, `code` whether an unreadable one could not be opened or has damaged bytes.
struct Sniffed {
  Content content = Content::kOther;
  std::string reason;
  ErrorCode code = ErrorCode::kIo;
};
Sniffed SniffFile(const std::string& path);

}  // namespace steplens::readers
