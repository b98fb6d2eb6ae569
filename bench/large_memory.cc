// Large arrays of the measuring program come from pages of 2 MB where the system has them. Whether
// an allocator gets such pages for a block, and whether it keeps a freed block or gives it back, is
// luck; for simdjson's index of a whole file either is worth half of the time of its walk. With
// this the limit and the reader, whose allocator asks for large pages as well, are served alike:
// new pages for each block, large ones.
#include <sys/mman.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>

namespace {

constexpr std::size_t kLargePage = std::size_t{2} << 20;
constexpr std::size_t kLarge = std::size_t{64} << 20;

struct Block {
  void* at = nullptr;
  void* mapped = nullptr;
  std::size_t size = 0;
};
std::mutex mutex;
std::array<Block, 64> blocks;

void* Map(std::size_t size) {
  const std::size_t mapped_size = (size + 2 * kLargePage - 1) / kLargePage * kLargePage;
  void* mapped =
      mmap(nullptr, mapped_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  madvise(mapped, mapped_size, MADV_HUGEPAGE);
  void* at = mapped;
  std::size_t space = mapped_size;
  std::align(kLargePage, size, at, space);
  const std::lock_guard lock(mutex);
  for (Block& block : blocks) {
    if (block.at != nullptr) continue;
    block = {at, mapped, mapped_size};
    return at;
  }
  munmap(mapped, mapped_size);
  return nullptr;
}

bool Unmap(void* at) {
  const std::lock_guard lock(mutex);
  for (Block& block : blocks) {
    if (block.at != at) continue;
    munmap(block.mapped, block.size);
    block = {};
    return true;
  }
  return false;
}

}  // namespace

void* operator new[](std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return size >= kLarge ? Map(size) : std::malloc(size);
}
void operator delete[](void* at) noexcept {
  if (at != nullptr && !Unmap(at)) std::free(at);
}
void operator delete[](void* at, std::size_t /*size*/) noexcept { operator delete[](at); }
