#include "cli/exit_code.h"

namespace steplens::cli {

int ExitCode(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return kExitUsage;
    case ErrorCode::kNotFound:
      return 3;
    case ErrorCode::kCorruptData:
      return 4;
    case ErrorCode::kUnsupported:
      return 5;
    case ErrorCode::kIo:
      return 6;
    case ErrorCode::kOutOfMemory:
      return 7;
    case ErrorCode::kCancelled:
      return 130;
    case ErrorCode::kInternal:
      return 70;
  }
  return 70;
}

}  // namespace steplens::cli
