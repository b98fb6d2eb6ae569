#include "base/memory_limit.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <limits>
#include <new>
#include <optional>
#include <system_error>

#include "base/number.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STEPLENS_HAS_SANITIZER_
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define STEPLENS_HAS_SANITIZER_
#endif
#endif

namespace {

// NOLINTNEXTLINE: one limit for the process
std::atomic<uint64_t> memory_limit{0};

void SetDataLimit(rlim_t bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_DATA, &limit) != 0) return;
  limit.rlim_cur = std::min(bytes, limit.rlim_max);
  ::setrlimit(RLIMIT_DATA, &limit);
}

// A part of the limit that only small pieces get: who gives up for want of a large one can still
// say so, and others go on.
constexpr uint64_t kMostReserve = uint64_t{16} << 20;
uint64_t ReserveOf(uint64_t limit) { return std::min(limit / 8, kMostReserve); }

#ifndef STEPLENS_HAS_SANITIZER_
constexpr size_t kSmall = 4096;

// After an allocation failed: whether to try once more.
bool MayUseReserve(size_t size) {
  const uint64_t limit = memory_limit.load(std::memory_order_relaxed);
  if (limit == 0) return false;
  SetDataLimit(size <= kSmall ? limit : limit - ReserveOf(limit));
  return size <= kSmall;
}
#endif

}  // namespace

#ifndef STEPLENS_HAS_SANITIZER_

// An allocator that is written in C cannot throw: mimalloc ends the process. Its malloc only says
// that there is nothing, and its delete takes back what that gave.
namespace {

void* AllocateOrThrow(size_t size) {
  if (void* const memory = std::malloc(std::max<size_t>(size, 1))) return memory;
  if (MayUseReserve(size)) {
    if (void* const memory = std::malloc(std::max<size_t>(size, 1))) return memory;
  }
  throw std::bad_alloc();
}

void* AllocateOrThrow(size_t size, std::align_val_t alignment) {
  const auto align = static_cast<size_t>(alignment);
  const size_t rounded = (std::max<size_t>(size, 1) + align - 1) / align * align;
  if (void* const memory = std::aligned_alloc(align, rounded)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(size_t size) { return AllocateOrThrow(size); }
void* operator new[](size_t size) { return AllocateOrThrow(size); }
void* operator new(size_t size, std::align_val_t alignment) {
  return AllocateOrThrow(size, alignment);
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return AllocateOrThrow(size, alignment);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }

#endif

namespace steplens {
namespace {

namespace fs = std::filesystem;

constexpr int kExitOutOfMemory = 7;  // as cli/exit_code.cc has it

#ifdef STEPLENS_HAS_SANITIZER_
constexpr bool kCanLimit = false;
#else
constexpr bool kCanLimit = true;
#endif

// The number in a file of the control groups; nothing for "max".
std::optional<uint64_t> NumberIn(const fs::path& path) {
  std::ifstream file(path);
  std::string text;
  file >> text;
  const std::optional<int64_t> number = ParseInt64(text);
  if (!number || *number <= 0) return std::nullopt;
  return static_cast<uint64_t>(*number);
}

// The smallest limit of a group and those above it.
uint64_t SmallestLimit(const fs::path& mount, fs::path group, const char* file) {
  uint64_t smallest = std::numeric_limits<uint64_t>::max();
  for (int depth = 0; depth < 64; ++depth) {
    const fs::path folder = mount / group.relative_path();
    if (const auto limit = NumberIn(folder / file)) smallest = std::min(smallest, *limit);
    if (!group.has_relative_path()) break;
    group = group.parent_path();
  }
  return smallest;
}

// Lines "ID:CONTROLLERS:PATH"; the second version has no controllers there.
uint64_t GroupMemory() {
  uint64_t smallest = std::numeric_limits<uint64_t>::max();
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const fs::path group = line.substr(second + 1);
    if (controllers == ",,") {
      smallest = std::min(smallest, SmallestLimit("/sys/fs/cgroup", group, "memory.max"));
    } else if (controllers.find(",memory,") != controllers.npos) {
      smallest = std::min(smallest,
                          SmallestLimit("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
    }
  }
  return smallest;
}

// The stacks of threads count as a whole, used or not: a low limit must have room for some.
void LimitStacks(uint64_t bytes) {
  constexpr uint64_t kLeast = uint64_t{1} << 20;
  constexpr uint64_t kStacks = 128;  // in the limit
  pthread_attr_t attributes{};
  size_t usual = 0;
  if (::pthread_getattr_default_np(&attributes) != 0) return;
  if (::pthread_attr_getstacksize(&attributes, &usual) == 0) {
    const size_t wanted = std::max(kLeast, bytes / kStacks);
    if (wanted < usual && ::pthread_attr_setstacksize(&attributes, wanted) == 0)
      ::pthread_setattr_default_np(&attributes);
  }
  ::pthread_attr_destroy(&attributes);
}

[[noreturn]] void OnTerminate() {
  if (const std::exception_ptr current = std::current_exception()) {
    try {
      std::rethrow_exception(current);
    } catch (const std::bad_alloc&) {
      // Without memory: the sentence is there already.
      static constexpr std::string_view kSentence =
          "steplens: there is not enough memory; --max-memory sets the limit\n";
      [[maybe_unused]] const ssize_t put =
          ::write(STDERR_FILENO, kSentence.data(), kSentence.size());
      ::_exit(kExitOutOfMemory);
    } catch (...) {  // NOLINT: as if there were no handler
    }
  }
  std::abort();
}

}  // namespace

uint64_t AvailableMemory() {
  struct sysinfo machine{};
  uint64_t bytes = std::numeric_limits<uint64_t>::max();
  if (::sysinfo(&machine) == 0) bytes = uint64_t{machine.totalram} * machine.mem_unit;
  return std::min(bytes, GroupMemory());
}

void LimitMemory(uint64_t bytes) {
  memory_limit.store(bytes, std::memory_order_relaxed);
  if (!kCanLimit || bytes == 0) return;
  SetDataLimit(bytes - ReserveOf(bytes));
  LimitStacks(bytes);
}

MemoryLimitLifted::MemoryLimitLifted() {
  if (kCanLimit && memory_limit.load() > 0) SetDataLimit(RLIM_INFINITY);
}
MemoryLimitLifted::~MemoryLimitLifted() {
  const uint64_t limit = memory_limit.load();
  if (kCanLimit && limit > 0) SetDataLimit(limit - ReserveOf(limit));
}

bool IsOutOfMemory(const std::exception& failure) {
  if (dynamic_cast<const std::bad_alloc*>(&failure) != nullptr) return true;
  // A thread that there is no room for.
  const auto* const system = dynamic_cast<const std::system_error*>(&failure);
  return system != nullptr && system->code() == std::errc::resource_unavailable_try_again;
}

Error OutOfMemory() {
  const uint64_t limit = memory_limit.load(std::memory_order_relaxed);
  if (limit == 0) return {ErrorCode::kOutOfMemory, "there is not enough memory"};
  return {ErrorCode::kOutOfMemory,
          fmt::format("more than {} MiB of memory would be needed; --max-memory sets the limit",
                      limit >> 20)};
}

Result<uint64_t> ParseMemory(std::string_view text) {
  if (text == "none") return uint64_t{0};
  const size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::optional<double> number = ParseDouble(text.substr(0, digits));
  std::string_view unit = text.substr(digits);
  if (unit.ends_with("iB")) unit.remove_suffix(2);
  if (unit.ends_with('B')) unit.remove_suffix(1);
  const std::string_view units[] = {"", "K", "M", "G", "T"};
  const auto* const found = std::find(std::begin(units), std::end(units), unit);
  double bytes = number.value_or(0);
  if (unit == "%") {
    bytes *= static_cast<double>(AvailableMemory()) / 100;
  } else {
    bytes = std::ldexp(bytes, static_cast<int>(10 * (found - std::begin(units))));
  }
  const bool is_unit = unit == "%" || found != std::end(units);
  if (!number || !is_unit || !(bytes >= 1) || bytes > 1e18) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("'{}' is not a size; write 8G, 512M, 75% or none", text)};
  }
  return static_cast<uint64_t>(bytes);
}

void EndWithSentence() { std::set_terminate(OnTerminate); }

}  // namespace steplens
