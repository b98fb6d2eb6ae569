#pragma once

#include <vector>

#include "base/status.h"
#include "cli/command.h"

namespace steplens::cli {

// Options of every command that reads captures.
std::vector<OptionSpec> LimitOptions();

// Sets the limits of the process: before it reads anything or starts a thread.
Status SetLimits(const Arguments& arguments);

}  // namespace steplens::cli
