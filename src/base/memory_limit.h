#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace steplens {

// What this process may use at the most: the machine's memory, or what its control group has.
uint64_t AvailableMemory();

// From now on memory beyond this is refused: an allocation throws std::bad_alloc, which becomes
// OutOfMemory() where the work that needed it is given up. Counts what is written to, not what is
// mapped from files. 0: no limit of ours. Does nothing in builds with sanitizers, which map more
// than any machine has.
void LimitMemory(uint64_t bytes);

// While it lives there is no limit, so that a program that is started has none.
class MemoryLimitLifted {
 public:
  MemoryLimitLifted();
  ~MemoryLimitLifted();
  MemoryLimitLifted(const MemoryLimitLifted&) = delete;
  MemoryLimitLifted& operator=(const MemoryLimitLifted&) = delete;
};

Error OutOfMemory();

// "8G", "512MiB", "75%" of what is available, "none" (0), in bytes.
Result<uint64_t> ParseMemory(std::string_view text);

// An exception that nobody caught ends the program: with a sentence and the exit code for running
// out of memory if it is that, and else as ever.
void EndWithSentence();

}  // namespace steplens
