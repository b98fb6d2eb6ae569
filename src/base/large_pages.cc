#include "base/large_pages.h"

#ifdef STEPLENS_WITH_MIMALLOC
#include <mimalloc.h>
#endif

namespace steplens {

void UseLargePages() {
#ifdef STEPLENS_WITH_MIMALLOC
  mi_option_set_enabled_default(mi_option_large_os_pages,
                                true);  // the environment may say otherwise
#endif
}

}  // namespace steplens
