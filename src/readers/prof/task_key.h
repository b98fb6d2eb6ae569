#pragma once

#include <cstdint>

#include "format/prof/host_records.h"

namespace steplens::readers::prof {

// What identifies a task of a device on both sides: stream, how often the stream's task ids had
// begun again, task and sub-task, each 16 bits.
using TaskKey = uint64_t;

inline constexpr uint32_t kNoContext = 0xFFFF;  // all ones in 32 bits in records of the host

inline TaskKey MakeTaskKey(uint32_t stream, uint32_t batch, uint32_t task, uint32_t context) {
  return uint64_t{stream & 0xFFFF} << 48 | uint64_t{batch & 0xFFFF} << 32 |
         uint64_t{task & 0xFFFF} << 16 | (context & 0xFFFF);
}
inline uint32_t StreamOf(TaskKey key) { return static_cast<uint32_t>(key >> 48); }
inline uint32_t BatchOf(TaskKey key) { return static_cast<uint32_t>(key >> 32) & 0xFFFF; }
inline uint32_t TaskOf(TaskKey key) { return static_cast<uint32_t>(key >> 16) & 0xFFFF; }
inline uint32_t ContextOf(TaskKey key) { return static_cast<uint32_t>(key) & 0xFFFF; }
// Ids of 32 bits that do not wrap stand in two parts: the high half is that of the wraps.
inline uint32_t UniqueIdOf(TaskKey key) { return static_cast<uint32_t>(key >> 16); }
// The id as results show it.
inline uint32_t ShownTaskOf(TaskKey key, bool is_unique) {
  return is_unique ? UniqueIdOf(key) : TaskOf(key);
}
inline TaskKey WithoutContext(TaskKey key) { return key | 0xFFFF; }

}  // namespace steplens::readers::prof
