#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "server/timeline/lane_rows.h"
#include "store/trace_store.h"

namespace steplens::server {

// The ends of a rank's arrows by track. 8 bytes an arrow.
class FlowIndex {
 public:
  FlowIndex() = default;
  explicit FlowIndex(const store::TraceStore& store);

  struct End {
    uint32_t flow;
    bool is_target;
  };
  // By time.
  size_t count(store::TrackId track) const { return Of(track).size(); }
  End end(store::TrackId track, size_t i) const {
    const uint32_t packed = Of(track)[i];
    return {packed >> 1, (packed & 1) != 0};
  }
  // Which of them lie in [from_ns, to_ns]: the first, and one behind the last. O(log n).
  std::pair<size_t, size_t> Between(const store::TraceStore& store, store::TrackId track,
                                    int64_t from_ns, int64_t to_ns) const;
  size_t bytes() const { return (ends_.capacity() + first_.capacity()) * sizeof(uint32_t); }

 private:
  static int64_t TimeOf(const store::TraceStore& store, uint32_t packed);
  std::span<const uint32_t> Of(store::TrackId track) const {
    const auto t = static_cast<size_t>(track);
    if (t + 1 >= first_.size()) return {};
    return std::span(ends_).subspan(first_[t], first_[t + 1] - first_[t]);
  }
  std::vector<uint32_t> ends_;   // flow * 2 + is_target
  std::vector<uint32_t> first_;  // by track
};

// The slice an end of an arrow belongs to: the innermost that begins exactly there, else the
// innermost that contains the time; a target that lies in no slice belongs to the next one that
// begins. store::kNoId if there is none.
uint32_t SliceAtFlowEnd(const LaneRows& rows, int64_t t_ns, bool is_target);

// Sets the bit of every slice of the track's lane that an arrow begins or ends at. O(n + f log f).
void MarkFlowSlices(const store::TraceStore& store, const FlowIndex& index, store::TrackId track,
                    const LaneRows& rows, std::vector<bool>& has_flow);

}  // namespace steplens::server
