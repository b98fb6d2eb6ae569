#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/thread_pool.h"
#include "store/cache_limit.h"
#include "store/trace_store.h"

namespace steplens::store {

// Which input a cached store was made from: a change of any file's path or version, or of the
// store's own schema, gives another key.
struct CacheKey {
  uint64_t high = 0;
  uint64_t low = 0;
  bool operator==(const CacheKey&) const = default;
  std::string ToHex() const;
};
struct VersionedPath {
  std::string path;
  std::string version;  // FileVersion of base/file_version.h
};
CacheKey MakeCacheKey(const std::vector<VersionedPath>& inputs);

// $STEPLENS_CACHE_DIR, else $XDG_CACHE_HOME/steplens, else ~/.cache/steplens, for this user alone;
// empty if there is no place, or CheckCacheDirectory has something against it.
std::string CacheDirectory();
// kUnsupported, with a sentence, if the place is not ours alone; kIo if it cannot be made.
Status CheckCacheDirectory();

inline constexpr uint64_t kCacheLimitBytes = uint64_t{8} << 30;

// The stores of earlier runs in one directory; without a directory there are none. One object per
// run, shared by its ranks and threads, so that the limit is kept at a cost that does not grow with
// each rank.
class StoreCache {
 public:
  explicit StoreCache(std::string directory, uint64_t limit_bytes = kCacheLimitBytes);

  bool has_directory() const { return !directory_.empty(); }

  // A store, its columns viewing the mapped file. kNotFound if there is none; kCorruptData if the
  // file does not match its checksum, key or form, and is then to be written again. Its parts are
  // checked by all threads of the pool.
  Result<TraceStore> Read(const CacheKey& key, ThreadPool& pool) const;

  // Writes the store for the next run. The file appears whole or not at all, so two processes may
  // write at once. Entries not used for longest are removed when the directory grows beyond the
  // limit.
  Status Write(const CacheKey& key, const TraceStore& store);

  const CacheLimit& limit() const { return limit_; }

 private:
  const std::string directory_;
  std::once_flag directory_made_;
  CacheLimit limit_;
};

}  // namespace steplens::store
