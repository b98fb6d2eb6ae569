#pragma once

#include <vector>

#include "analysis/nesting/nesting.h"
#include "store/trace_store.h"

namespace steplens::analysis {

// The slices at both ends of each flow; columns parallel to store.flows. kNoSlice where an end
// hangs in the air, as the launches of a Level0 capture do, whose CANN slices are not in the trace.
struct FlowEnds {
  std::vector<store::SliceId> from_slice;
  std::vector<store::SliceId> to_slice;
};

// An end belongs to the slice that starts exactly there, the innermost if several do; otherwise to
// the innermost slice of the track that contains it. O(f log n).
FlowEnds ResolveFlowEnds(const store::TraceStore& store, const TrackIndex& index,
                         const Nesting& nesting);

}  // namespace steplens::analysis
