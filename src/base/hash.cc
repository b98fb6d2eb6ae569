#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace steplens {

uint64_t Hash64(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

Hash128 HashWide(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return {hash.high64, hash.low64};
}

}  // namespace steplens
