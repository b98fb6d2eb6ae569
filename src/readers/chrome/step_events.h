#pragma once

#include "store/trace_store.h"

namespace steplens::readers {

// Fills `steps` from the slices named 'ProfilerStep#<number>', those of the host.
void FillSteps(store::TraceStore& out);

}  // namespace steplens::readers
