#pragma once

#include "store/trace_store.h"

namespace steplens::store {

// Appends every table of `part` to `into`: texts are interned again, track and slice ids are
// shifted past the rows `into` has already. info is left alone. Readers fill a private store per
// file, in parallel, and the parts are appended in a fixed order, so ids never depend on
// scheduling.
void AppendStore(TraceStore& into, const TraceStore& part);

}  // namespace steplens::store
