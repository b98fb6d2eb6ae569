#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/thread_pool.h"
#include "open/numbering.h"
#include "readers/detect.h"
#include "readers/read_options.h"
#include "store/cache.h"
#include "store/trace_store.h"

namespace steplens::opening {

// Finds the captures below the paths and numbers them (numbering.h); `ignored` also has the files
// that belong to no rank. Errors as readers::DetectRanks.
Result<Captures> FindCaptures(const std::vector<std::string>& paths, const RankNumbers& given = {});

// Puts a rank, as OpenRank gave it, into the cache.
using SaveRank = std::function<void(const store::TraceStore&)>;

struct OpenOptions {
  size_t threads = 0;                  // 0: one per core; OpenJob only
  bool use_cache = true;               // OpenJob only
  bool show_progress = false;          // a bar on stderr, if it is a terminal; OpenJob only
  std::optional<int64_t> only_rank{};  // OpenJob only: of the ranks found, read this one alone
  size_t chunk_bytes = 1 << 20;
  readers::Wanted wanted{};            // OpenRank only
  store::StoreCache* cache = nullptr;  // OpenRank only; null: neither read nor written
  // OpenRank only. If set, what should go to the cache is not written: the function left here does
  // it, when the caller has the time and the cache is still there. None is left if there is nothing
  // to write.
  SaveRank* save_later = nullptr;
};

// Finds, reads and completes every rank below the paths, in parallel, through the cache. Ranks come
// ordered by number; one that cannot be read at all is listed in job.ignored with the reason, and
// is an error only if there is no other.
Result<store::Job> OpenJob(const std::vector<std::string>& paths, const OpenOptions& options);

// One of the captures, or the parts of it that are wanted, completed. On any thread; `pool` is used
// inside.
Result<store::TraceStore> OpenRank(const Capture& capture, ThreadPool& pool,
                                   const OpenOptions& options);

// What a raw capture is opened for: the result files of `analyse`, another single file, or the
// memory timeline, which alone needs the tensors of operators.
enum class RawUse : uint8_t { kResults, kSingleFile, kMemoryTimeline };
// A raw capture, read once to be written: completed for its use, without the cache. Its number is
// what its files say, kNone if they do not.
Result<store::TraceStore> OpenRaw(const readers::RankSource& source, ThreadPool& pool, RawUse use);

// Identifies the present state of a rank's files: path, size and time of each.
store::CacheKey KeyOf(const readers::RankSource& source);

}  // namespace steplens::opening
