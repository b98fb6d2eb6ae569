#pragma once

#include "readers/ascend_db/tracks.h"
#include "readers/prof/control_files.h"
#include "readers/prof/prof_clock.h"
#include "readers/prof/prof_files.h"
#include "readers/read_options.h"
#include "store/trace_store.h"

namespace steplens::readers::prof {

// What the collector read from the host's system while it ran: use of processors, memory, network
// and disk as counters; system calls and calls of pthread as slices.
void WriteHostSamples(const Side& host, const Control& control, const SideClock& clock,
                      const ReadOptions& options, TrackBuilder& tracks, store::TraceStore& out);

}  // namespace steplens::readers::prof
