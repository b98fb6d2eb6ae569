#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

namespace steplens::store {

// Keeps the files of a cache directory below a limit while one run adds files. The first file added
// makes it look through the directory; from then on it counts, and looks again only when the count
// exceeds the limit. It then makes room for an eighth of the limit at once, so that the cost stays
// proportional to the number of files, however many a run adds.
class CacheLimit {
 public:
  CacheLimit(std::string directory, uint64_t limit_bytes);

  // Call once a file is in place. Removes the files that were not used for longest, this one last.
  // On any thread.
  void Added(const std::string& path, uint64_t size_bytes);

  uint64_t files_looked_at() const { return files_looked_at_; }

 private:
  void LookThrough(const std::string& added);

  const std::string directory_;
  const uint64_t limit_bytes_;
  std::mutex total_mutex_;  // guards the two below
  uint64_t total_bytes_ = 0;
  bool is_total_known_ = false;
  std::atomic<uint64_t> files_looked_at_{0};
};

}  // namespace steplens::store
