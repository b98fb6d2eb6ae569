#pragma once

#include <cstddef>
#include <span>

#include "base/string_pool.h"

namespace steplens::store {

// `count` empty texts, for columns in which nothing was recorded. They take addresses and no
// memory: all of them are the one page of zeros that the system has for reading. Valid until the
// process ends. For any thread.
std::span<const StringId> EmptyTexts(size_t count);

}  // namespace steplens::store
