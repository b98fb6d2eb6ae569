#pragma once

#include <string>

#include "base/thread_pool.h"
#include "store/trace_store.h"

namespace steplens::store {

// What readers promise of every store, and what nobody asks again: columns of a table are of equal
// length, ids of texts, tracks and slices lead to some, tracks have no circles of parents, columns
// that are always known are known, and nothing lasts a negative time. Returns what does not hold,
// e.g. "slices.name leads nowhere"; empty if all does. Looks at every value once.
std::string FindUnsound(const TraceStore& store, ThreadPool& pool);

}  // namespace steplens::store
