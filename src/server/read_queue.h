#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace steplens::server {

// The order in which the ranks of a data set are read. For many threads at once.
class ReadQueue {
 public:
  // Once, before anything is taken; in order.
  void Start(std::vector<int64_t> ranks);
  // Ranks that somebody wants to see come next. The last call counts, before Start, too.
  void Focus(std::vector<int64_t> ranks);
  // The place of what to read next; to be called once for each rank.
  size_t Take();

 private:
  struct Entry {
    int64_t rank = 0;
    bool is_taken = false;
  };

  std::mutex entries_mutex_;  // guards everything
  std::vector<Entry> entries_;
  std::vector<int64_t> focus_;  // sorted
};

}  // namespace steplens::server
