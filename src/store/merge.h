#pragma once

#include "store/trace_store.h"

namespace steplens::store {

// Appends every table of `part` to `into`: texts are interned again, slice ids are shifted past the
// rows `into` has already, and a track that is there (same process, thread and name) is used again.
// info is left alone. Readers fill a private store per
// file, in parallel, and the parts are appended in a fixed order, so ids never depend on
// scheduling.
void AppendStore(TraceStore& into, const TraceStore& part);

}  // namespace steplens::store
