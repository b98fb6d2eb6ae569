#include "base/program_pages.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace steplens {
namespace {

int ForgetObject(dl_phdr_info* object, size_t, void*) {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    // What may be written holds addresses that were filled in when the object was loaded.
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    // Only whole pages: the last one may be shared with a segment that may be written.
    const uintptr_t begin = (object->dlpi_addr + segment.p_vaddr + page - 1) & ~(page - 1);
    const uintptr_t end = (object->dlpi_addr + segment.p_vaddr + segment.p_memsz) & ~(page - 1);
    if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
  return 0;
}

}  // namespace

void ForgetProgramPages() { ::dl_iterate_phdr(ForgetObject, nullptr); }

}  // namespace steplens
