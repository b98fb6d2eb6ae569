#pragma once

#include "export/text/trace_events.h"
#include "export/timeline.h"

namespace steplens::exporting {

// The process "Overlap Analysis" of a store that has none: how the time of each device divides.
// Threads: 0 Computing, 1 Communication, 2 Communication(Not Overlapped), 3 Free.
void WriteOverlapEvents(const store::TraceStore& store, const Timeline& timeline,
                        TraceEvents& events);

}  // namespace steplens::exporting
