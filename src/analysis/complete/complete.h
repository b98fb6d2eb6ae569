#pragma once

#include "store/trace_store.h"

namespace steplens::analysis {

// Adds to a rank what captures of another form say of the same run:
//   raw   all that result files would have said (CompleteRawCapture)
//   db    Step Id of kernels, ratios and 'Total Op Info' of communication
//   text  the names of communication groups whose timeline only numbers them, and the steps of a
//         graph whose iterations only the device marks
//   other which events of a device steplens does not know, as an issue
// What the files did say is left as it is. To be called once, before the store is shared or cached.
void CompleteCapture(store::TraceStore& store);

}  // namespace steplens::analysis
