#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "store/trace_store.h"

namespace steplens::analysis {

// The slices of each track in drawing order: begin ascending, then duration descending (outer
// before inner), then id ascending. Slices with no valid track are left out.
struct TrackIndex {
  std::vector<store::SliceId> order;  // all tracks one after the other
  std::vector<uint32_t> first;        // track t owns order[first[t], first[t + 1])

  std::span<const store::SliceId> slices(store::TrackId track) const {
    const auto t = static_cast<size_t>(track);
    if (t + 1 >= first.size()) return {};
    return std::span(order).subspan(first[t], first[t + 1] - first[t]);
  }

  // The last slice in drawing order that begins at or before the time; kNoSlice if none does.
  store::SliceId LastStarted(const store::TraceStore& store, store::TrackId track,
                             int64_t ts_ns) const;
};

// O(n log n) at worst, near linear where the slices of a track come in time order already.
TrackIndex BuildTrackIndex(const store::TraceStore& store);

// The same over the slices for which wanted(row) holds (called twice per slice), or over the tracks
// that are flagged.
TrackIndex BuildTrackIndex(const store::TraceStore& store,
                           const std::function<bool(size_t row)>& wanted);
TrackIndex BuildTrackIndex(const store::TraceStore& store, const std::vector<bool>& wanted_tracks);

// Per slice, over all categories of its track together:
//   parent: the last-starting slice of the track that fully contains it (it starts before the
//   parent
//     ends and ends no later); kNoSlice if none. Of slices with equal times the one with the
//     smaller id contains the other.
//   depth: the row it is drawn in, the first row below its parent that is free at its begin. For
//     properly nested slices this is the number of ancestors. A slice that overlaps another one
//     only partly (async work) is no child of it and gets a row of its own instead of being drawn
//     over it.
struct Nesting {
  std::vector<uint32_t> depth;
  std::vector<store::SliceId> parent;

  // The last-starting slice of the track that runs at the time (begin <= ts < end); kNoSlice if
  // none does.
  store::SliceId InnermostAt(const store::TraceStore& store, const TrackIndex& index,
                             store::TrackId track, int64_t ts_ns) const;
};

// O(n log r) with r rows on the busiest track. Slices outside the index have depth 0 and no parent.
Nesting ComputeNesting(const store::TraceStore& store, const TrackIndex& index);
Nesting ComputeNesting(const store::TraceStore& store);

}  // namespace steplens::analysis
