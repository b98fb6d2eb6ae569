#pragma once

#include <string>

namespace steplens::cli {

// Whether a process of this machine is recording into the capture's folder: its profiler_info has
// no end yet, and the process it names (steplens_pid, or the number in the folder's name) has one
// of its files open.
bool IsBeingRecorded(const std::string& folder);

}  // namespace steplens::cli
