#include "store/unknown.h"

#include <sys/mman.h>

#include <new>

namespace steplens::store {

static_assert(NotKnown<StringId>() == StringId{0} && NotKnown<uint32_t>() == 0);

std::span<const std::byte> Zeros(size_t bytes) {
  constexpr size_t kFirst = size_t{1} << 20;
  static std::mutex zeros_mutex;
  static std::span<const std::byte> zeros;  // the largest so far; smaller ones stay where they are
  const std::lock_guard lock(zeros_mutex);
  if (bytes > zeros.size()) {
    const size_t larger = std::max({bytes, 2 * zeros.size(), kFirst});
    void* const memory =
        ::mmap(nullptr, larger, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    zeros = {static_cast<const std::byte*>(memory), larger};
  }
  return zeros;
}

}  // namespace steplens::store
