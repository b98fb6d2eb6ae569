#pragma once

#include <cstddef>

#include "base/progress.h"
#include "base/thread_pool.h"

namespace steplens::readers {

// What every reader is given. The result never depends on the number of threads or the chunk size.
struct ReadOptions {
  ThreadPool* pool = nullptr;    // required
  Progress* progress = nullptr;  // optional; told the bytes of input consumed
  size_t chunk_bytes = 1 << 20;  // size of the pieces a large trace is parsed in
};

}  // namespace steplens::readers
