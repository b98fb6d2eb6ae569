#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "readers/ascend_db/tracks.h"
#include "readers/prof/api_tree.h"
#include "readers/prof/dictionary.h"
#include "readers/prof/host_records.h"
#include "readers/prof/prof_clock.h"
#include "store/trace_store.h"

namespace steplens::readers::prof {

// Where the calls of the host are in the store, by the numbers that connect them with tasks.
struct HostPlaces {
  struct Place {
    store::TrackId track = store::kNoTrack;
    int64_t begin_ns = 0;
    StringId name = StringId::kEmpty;  // of marks
  };
  std::vector<store::TrackId> api_tracks;  // of ApiTree::apis; kNoTrack if it is not shown
  std::map<int64_t, Place> marks;          // by connection
};

// Connection ids of marks. Those that the device knows nothing of share one.
inline constexpr int64_t kPlainMark = 4'000'000'000;
inline int64_t MarkConnection(uint64_t mark) {
  return kPlainMark + 1 + static_cast<int64_t>(mark & 0xFFFFFFFF);
}

// Calls and marks as slices of their threads. Calls that ended before the capture began are left
// out, but for those that loaded a model.
HostPlaces WriteHost(const ApiTree& tree, const std::vector<Mark>& marks, int64_t pid,
                     const SideClock& clock, Dictionary& names, TrackBuilder& tracks,
                     store::TraceStore& out);

// Allocations of the graph engine.
void WriteOperatorMemory(std::vector<MemoryChange> changes, const SideClock& clock,
                         Dictionary& names, store::TraceStore& out);

}  // namespace steplens::readers::prof
