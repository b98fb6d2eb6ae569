#pragma once

#include <vector>

#include "store/trace_store.h"

namespace steplens::store {

// What the ids of a part have become in the whole.
struct NewIds {
  std::vector<StringId> strings;
  std::vector<TrackId> tracks;
  uint32_t slices_before = 0;

  StringId operator()(StringId id) const { return strings[static_cast<size_t>(id)]; }
  TrackId operator()(TrackId id) const {
    return id == kNoTrack ? id : tracks[static_cast<size_t>(id)];
  }
  SliceId operator()(SliceId id) const {
    return id == kNoSlice ? id : SliceId{static_cast<uint32_t>(id) + slices_before};
  }
};

// Appends every table of `part` to `into`: texts are interned again, slice ids are shifted past the
// rows `into` has already, and a track that is there (same process, thread and name) is used again.
// info is left alone. Readers fill a private store per file, in parallel, and the parts are
// appended in a fixed order, so ids never depend on scheduling.
NewIds AppendStore(TraceStore& into, const TraceStore& part);

}  // namespace steplens::store
