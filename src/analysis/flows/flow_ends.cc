#include "analysis/flows/flow_ends.h"

namespace steplens::analysis {
namespace {

store::SliceId SliceAt(const store::TraceStore& store, const TrackIndex& index,
                       const Nesting& nesting, store::TrackId track, int64_t ts_ns) {
  const store::SliceId last = index.LastStarted(store, track, ts_ns);
  if (last == store::kNoSlice) return last;
  if (store.slices.begin_ns[static_cast<size_t>(last)] == ts_ns) return last;
  return nesting.InnermostAt(store, index, track, ts_ns);
}

}  // namespace

FlowEnds ResolveFlowEnds(const store::TraceStore& store, const TrackIndex& index,
                         const Nesting& nesting) {
  const store::FlowTable& flows = store.flows;
  FlowEnds ends;
  ends.from_slice.reserve(flows.size());
  ends.to_slice.reserve(flows.size());
  for (size_t i = 0; i < flows.size(); ++i) {
    ends.from_slice.push_back(
        SliceAt(store, index, nesting, flows.from_track[i], flows.from_ns[i]));
    ends.to_slice.push_back(SliceAt(store, index, nesting, flows.to_track[i], flows.to_ns[i]));
  }
  return ends;
}

}  // namespace steplens::analysis
