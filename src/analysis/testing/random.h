#pragma once

#include <cstdint>
#include <random>

namespace steplens::analysis {

// 0 ... limit - 1, the same on every machine.
inline int64_t RandomBelow(std::mt19937& random, int64_t limit) {
  return static_cast<int64_t>(random()) % limit;
}

}  // namespace steplens::analysis
