#pragma once

#include <string>

#include "base/status.h"
#include "readers/read_options.h"
#include "store/trace_store.h"

namespace steplens::readers {

// Reads a raw PROF_* folder: what CANN's collector wrote about host and devices, before any tool
// analysed it. Records are joined to tasks, kernels, calls and collectives on the way; nothing is
// written. Fails only if there is no data at all.
Status ReadProf(const std::string& folder, const ReadOptions& options, store::TraceStore& out);

}  // namespace steplens::readers
