#pragma once

#include "export/text/trace_events.h"
#include "export/timeline.h"

namespace steplens::exporting {

// How the time of each device divides, for a store that does not say it. Threads: 0 Computing,
// 1 Communication, 2 Communication(Not Overlapped), 3 Free.

// The process "Overlap Analysis" of a store that has none, and its slices.
void WriteOverlapProcess(const store::TraceStore& store, const Timeline& timeline,
                         TraceEvents& events);
// The slices of one that is there, with its threads, but empty.
void WriteOverlapSlices(const store::TraceStore& store, const Timeline& timeline,
                        TraceEvents& events);

}  // namespace steplens::exporting
