#pragma once

#include <sys/types.h>

#include <string>

namespace steplens::collect {

// Starts `$STEPLENS_PROGRAM analyse capture`, which says on standard error what went wrong. -1 if
// there is no such program; `*problem` tells.
pid_t StartAnalysis(const std::string& capture, std::string* problem);

void WaitForAnalysis(pid_t analysis);

}  // namespace steplens::collect
