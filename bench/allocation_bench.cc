// What the operators new and delete of base/memory_limit.cc cost, which throw where the allocator's
// own would end the process: CPU time of a pair beside the allocator's own pair, in turn, best of
// several runs. Prints one JSON object for bench/safety.py.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <new>

#include "base/memory_limit.h"

#ifdef STEPLENS_WITH_MIMALLOC
#include <mimalloc.h>
#endif

namespace {

constexpr size_t kPairs = 2'000'000;
constexpr size_t kAlive = 64;  // as many are held at once
constexpr int kRepeats = 15;
constexpr std::array<size_t, 8> kSizes = {16, 32, 48, 24, 120, 16, 64, 512};

void* OwnNew(size_t size) {
#ifdef STEPLENS_WITH_MIMALLOC
  return mi_new(size);
#else
  return std::malloc(size);
#endif
}
void OwnDelete(void* memory) {
#ifdef STEPLENS_WITH_MIMALLOC
  mi_free(memory);
#else
  std::free(memory);
#endif
}

double CpuNs() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

template <typename New, typename Delete>
double NsPerPair(New make, Delete end) {
  std::array<void*, kAlive> alive{};
  const double before = CpuNs();
  for (size_t i = 0; i < kPairs; ++i) {
    void*& slot = alive[i % kAlive];
    if (slot != nullptr) end(slot);
    slot = make(kSizes[i % kSizes.size()]);
    asm volatile("" : : "r"(slot) : "memory");
  }
  const double after = CpuNs();
  for (void* const memory : alive) end(memory);
  return (after - before) / static_cast<double>(kPairs);
}

}  // namespace

int main() {
  static_cast<void>(steplens::OutOfMemory());  // takes the file with the operators in
  double own = 1e30;
  double ours = 1e30;
  for (int i = 0; i < kRepeats; ++i) {
    own = std::min(own, NsPerPair(OwnNew, OwnDelete));
    ours = std::min(ours, NsPerPair([](size_t size) { return ::operator new(size); },
                                    [](void* memory) { ::operator delete(memory); }));
  }
  fmt::print("{{\"own_ns\": {:.2f}, \"ours_ns\": {:.2f}}}\n", own, ours);
  return 0;
}
