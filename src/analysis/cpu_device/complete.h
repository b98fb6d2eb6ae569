#pragma once

#include "store/trace_store.h"

namespace steplens::analysis {

// Adds to a rank of format "raw" what analysed captures have: the device (the host itself, or links
// to the exported one), the step of each kernel, and the memory rows in the order of the result
// files. To be called once, before the store is shared or cached.
void CompleteRawCapture(store::TraceStore& store);

// The same for a store that is only written to result files: without what their writers compute
// themselves (the slices of Overlap Analysis, the sums of memory rows) and what no file has, to
// save memory.
void CompleteForExport(store::TraceStore& store);

// Whether the host is the device of this capture: nothing of an accelerator was recorded beside it.
bool IsHostTheDevice(const store::TraceStore& store);

}  // namespace steplens::analysis
