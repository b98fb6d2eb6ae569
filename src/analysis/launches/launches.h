#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "analysis/classify/classify.h"
#include "store/trace_store.h"

namespace steplens::analysis {

// The host asked at host_ns, on host_track, for one slice of device work.
struct Launch {
  int64_t host_ns = 0;
  store::TrackId host_track = store::kNoTrack;
  store::SliceId device = store::kNoSlice;
  store::SliceId call = store::kNoSlice;  // the API call, where that is known
  // Where the operator ran that the work belongs to: there, but inside the capture for work of a
  // replayed graph whose recording the trace holds (graph_captures.h).
  int64_t owner_ns = host_ns;
  store::TrackId owner_track = host_track;
};

// The call that replays a graph, and so launches all of its kernels: cudaGraphLaunch,
// hipGraphLaunch, ...
bool IsGraphLaunch(std::string_view call);

// As the operators see it: the host point lies inside the launching operator (Ascend: its start,
// since the call itself is made by the queue's own thread; GPU: the runtime call). Ascend:
// async_npu flows, else HostToDevice; those of a replayed ACL graph begin where it was recorded.
// GPU: by correlation. One launch per device slice of a flow; flows that lead nowhere are left out.
void ForEachOperatorLaunch(const store::TraceStore& store, const std::vector<TrackKind>& tracks,
                           const std::function<void(const Launch&)>& visit);

// As the API sees it: the start of the Node@ or GPU runtime call and every device slice of its
// correlation.
void ForEachApiLaunch(const store::TraceStore& store, const std::vector<TrackKind>& tracks,
                      const std::function<void(const Launch&)>& visit);

}  // namespace steplens::analysis
