#pragma once

#include <string>

#include "base/status.h"
#include "export/export.h"
#include "export/timeline.h"

namespace steplens::exporting {

// trace_view.json: the framework's part (operators, queue, metadata, forward/backward, Python
// functions, garbage collections), the timeline of device and host counters, then the arrows from
// operators to kernels. Slices of CANN are left out at Level0, as the reference does it; the
// Overlap Analysis process is computed where the store has none.
Status WriteTraceView(const store::TraceStore& store, const Timeline& timeline,
                      const ExportOptions& options, const std::string& path);

}  // namespace steplens::exporting
