#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "readers/detect.h"
#include "readers/read_options.h"
#include "store/cache.h"
#include "store/trace_store.h"

namespace steplens::readers {

// Puts a rank, as OpenRank gave it, into the cache.
using SaveRank = std::function<void(const store::TraceStore&)>;

struct OpenOptions {
  size_t threads = 0;  // 0: one per core
  bool use_cache = true;
  bool show_progress = false;  // a bar on stderr, if it is a terminal
  size_t chunk_bytes = 1 << 20;
  Wanted wanted{};  // heeded by OpenRank
  // Called on a rank once it was read, before it goes to the cache, to add what its files leave to
  // be derived (analysis::CompleteCapture). On any thread. Not set: ranks hold what the files say,
  // and stay out of the cache.
  std::function<void(store::TraceStore&)> complete{};
  // Heeded by OpenRank. If set, what should go to the cache is not written: the function left here
  // does it, when the caller has the time. None is left if there is nothing to write.
  SaveRank* save_later = nullptr;
};

// Finds and reads every rank below the paths, in parallel, through the cache. Ranks come ordered by
// number; a rank that cannot be read at all is listed in job.ignored with the reason, and is an
// error only if there is no other. Ranks without a number get the smallest free one; a number that
// repeats is replaced by the next free one; both are counted as issues.
Result<store::Job> OpenJob(const std::vector<std::string>& paths, const OpenOptions& options);

// One rank that DetectRanks found, or the parts of it that are wanted. On any thread; `pool` is
// used inside. The rank's number is what its files say, kNone if they do not.
Result<store::TraceStore> OpenRank(const RankSource& source, ThreadPool& pool,
                                   const OpenOptions& options);

// Identifies the present state of a rank's files: path, size and time of each.
store::CacheKey KeyOf(const RankSource& source);

// The args of a slice as JSON text, read again from the trace; empty if it has none. For one or a
// few slices; SliceArgsReader remembers its way through compressed traces.
Result<std::string> ReadSliceArgs(const store::TraceStore& store, store::SliceId slice);

}  // namespace steplens::readers
