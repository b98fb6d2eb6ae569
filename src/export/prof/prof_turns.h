#pragma once

#include <cstddef>
#include <functional>

#include "export/prof/prof_facts.h"
#include "export/text/trace_events.h"

namespace steplens::exporting {

// The turns of collectives that are fused with operators as events of the trace; `use_track` is
// told whose they are.
void WriteProfTurns(const ProfFacts& facts, TraceEvents& events,
                    const std::function<void(size_t track)>& use_track);

}  // namespace steplens::exporting
