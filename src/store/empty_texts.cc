#include "store/empty_texts.h"

#include <sys/mman.h>

#include <algorithm>
#include <mutex>
#include <new>

namespace steplens::store {

static_assert(StringId::kEmpty == StringId{0});

std::span<const StringId> EmptyTexts(size_t count) {
  static std::mutex zeros_mutex;
  static std::span<const StringId> zeros;  // the largest so far; smaller ones stay where they are
  const std::lock_guard lock(zeros_mutex);
  if (count > zeros.size()) {
    const size_t larger = std::max(count, 2 * zeros.size());
    void* const memory = ::mmap(nullptr, larger * sizeof(StringId), PROT_READ,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    zeros = {static_cast<const StringId*>(memory), larger};
  }
  return zeros.first(count);
}

}  // namespace steplens::store
