#pragma once

#include <cstdint>
#include <string_view>

namespace steplens {

// XXH3 of a text: fast, well spread, the same on every machine.
uint64_t Hash64(std::string_view text);

struct Hash128 {
  uint64_t high = 0;
  uint64_t low = 0;
};
// Long enough to stand for the text itself: two texts of one profile with equal hashes are not to
// be expected.
Hash128 HashWide(std::string_view text);

}  // namespace steplens
