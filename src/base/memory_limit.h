#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

#include "base/status.h"

namespace steplens {

// What this process may use at the most: the machine's memory, or what its control group has.
uint64_t AvailableMemory();

// From now on memory beyond this is refused, the last of it (an eighth, at most 16 MiB) to all but
// small pieces: an allocation throws std::bad_alloc, which becomes
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

// Whether that is what an exception means: memory or a thread was refused.
bool IsOutOfMemory(const std::exception& failure);

// "8G", "512MiB", "75%" of what is available, "none" (0), in bytes.
Result<uint64_t> ParseMemory(std::string_view text);

// An exception that nobody caught ends the program: with a sentence and the exit code for running
// out of memory if it is that, and else as ever.
void EndWithSentence();

}  // namespace steplens
