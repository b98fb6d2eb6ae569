#include "base/allocator.h"

#ifdef STEPLENS_WITH_MIMALLOC
#include <mimalloc.h>
#include <sys/mman.h>

#include <cstdint>
#endif

namespace steplens {

void UseLargePages() {
#ifdef STEPLENS_WITH_MIMALLOC
  mi_option_set_enabled_default(mi_option_large_os_pages,
                                true);  // the environment may say otherwise
#endif
}

void UseLargePagesEverywhere() {
  UseLargePages();
#ifdef STEPLENS_WITH_MIMALLOC
  // Memory comes in segments of this size and alignment; the first one exists from the start. Only
  // an advice: were it another size, the system would refuse it or heed it for less.
  constexpr uintptr_t kSegmentBytes = uintptr_t{32} << 20;
  void* const any = mi_malloc(1);
  char* const segment =
      static_cast<char*>(any) - (reinterpret_cast<uintptr_t>(any) & (kSegmentBytes - 1));
  mi_free(any);
  ::madvise(segment, kSegmentBytes, MADV_HUGEPAGE);
#endif
}

void ReturnFreedMemory() {
#ifdef STEPLENS_WITH_MIMALLOC
  mi_option_set_default(mi_option_decommit_delay, 0);  // in ms
#endif
}

void ReturnUnusedMemory() {
#ifdef STEPLENS_WITH_MIMALLOC
  mi_collect(/*force=*/true);
#endif
}

}  // namespace steplens
