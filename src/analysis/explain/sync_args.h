#pragma once

#include <cstdint>
#include <optional>

#include "analysis/args_reader.h"
#include "analysis/facts/rank_view.h"
#include "store/trace_store.h"

// What Kineto notes of a synchronisation on the GPU (category cuda_sync), or of the call beside it.

namespace steplens::analysis {

struct SyncArgs {
  int64_t stream = store::kNone;       // the one that is waited for; none: the whole device
  int64_t record_call = store::kNone;  // correlation of the call that records the event
};

// Of the slice itself or, if it is the call, of the synchronisation with its correlation. Nothing
// where the trace has no such args.
std::optional<SyncArgs> ReadSyncArgs(const RankView& rank, store::SliceId slice,
                                     const ArgsReader& read_args);

// The last work on the stream that was launched before the event was recorded; kNoSlice if there is
// none. O(slices).
store::SliceId TaskBeforeRecord(const RankView& rank, const SyncArgs& args);

// Whether the slice ran on the stream.
bool IsOnStream(const store::TraceStore& store, size_t slice, int64_t stream);

}  // namespace steplens::analysis
