#pragma once

#include "base/status.h"

namespace steplens::cli {

inline constexpr int kExitUsage = 2;

// The exit code of an error, as documented in docs/commands.md.
int ExitCode(ErrorCode code);

}  // namespace steplens::cli
