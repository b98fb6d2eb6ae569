#include "analysis/collectives/call_times.h"

#include <algorithm>
#include <cmath>

namespace steplens::analysis {

bool LeavesTime(const RecordedTimes& recorded, int64_t elapse_ns) {
  // Result files count in fractions of a millisecond: a transfer that fills the call may be a
  // nanosecond shorter or longer than it.
  constexpr int64_t kRoundingNs = 1;
  return recorded.wait_ns > 0 || recorded.transit_ns < elapse_ns - kRoundingNs;
}

int64_t NsOfResult(double ms) {
  constexpr double kAbsurdMs = 1e12;  // thirty years
  return std::isfinite(ms) && std::fabs(ms) < kAbsurdMs ? std::llround(ms * 1e6) : 0;
}

std::string_view SourceName(TimesSource source) {
  switch (source) {
    case TimesSource::kResults:
      return "results";
    case TimesSource::kTasks:
      return "tasks";
    case TimesSource::kArrivals:
      return "arrivals";
    case TimesSource::kUnknown:
      break;
  }
  return "unknown";
}

CallTimes DivideCall(int64_t elapse_ns, const std::optional<RecordedTimes>& recorded,
                     const CallPeers& peers) {
  CallTimes times;
  times.elapse_ns = std::max<int64_t>(0, elapse_ns);
  if (recorded) {
    times.source = recorded->source;
    times.transit_ns = std::clamp<int64_t>(recorded->transit_ns, 0, times.elapse_ns);
    times.wait_ns = std::clamp<int64_t>(recorded->wait_ns, 0, times.elapse_ns - times.transit_ns);
    times.synchronization_ns = std::clamp<int64_t>(recorded->synchronization_ns, 0, times.wait_ns);
    times.idle_ns = times.elapse_ns - times.transit_ns - times.wait_ns;
  } else if (peers.captured > 1 && peers.shortest_ns != store::kNone) {
    times.source = TimesSource::kArrivals;
    times.transit_ns = std::clamp<int64_t>(peers.shortest_ns, 0, times.elapse_ns);
    times.wait_ns = times.synchronization_ns = times.elapse_ns - times.transit_ns;
    times.idle_ns = 0;
    times.is_least_wait = peers.is_partial();
  }
  return times;
}

}  // namespace steplens::analysis
