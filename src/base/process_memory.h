#pragma once

#include <cstdint>
#include <span>

#include "base/status.h"

namespace steplens {

// Where processes of this machine find the memory of one of them.
struct MemoryPlace {
  int64_t process = 0;
  uint64_t mark_at = 0;  // the address of
  uint64_t mark = 0;     // a number that no other process has there

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(process, mark_at, mark);
  }
};

// That of this process.
MemoryPlace OwnMemory();

// Bytes of a process, and where in a buffer they are wanted.
struct MemoryPiece {
  uint64_t address = 0;
  uint64_t size = 0;
  uint64_t at = 0;
};

// The memory of a process of this machine, to be read; what is read must stay as it is meanwhile.
class ProcessMemory {
 public:
  // kNotFound if it is another process that has the number here, kIo if the system lets nobody in.
  static Result<ProcessMemory> Open(const MemoryPlace& place);

  // kIo, with the buffer half filled, if there is no such memory in another process; this one must
  // have it.
  Status Read(std::span<const MemoryPiece> pieces, char* buffer) const;

 private:
  explicit ProcessMemory(int64_t process) : process_(process) {}
  int64_t process_;
};

}  // namespace steplens
