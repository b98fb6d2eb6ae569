#include "server/read_queue.h"

#include <algorithm>
#include <utility>

namespace steplens::server {

void ReadQueue::Start(std::vector<int64_t> ranks) {
  const std::lock_guard lock(entries_mutex_);
  for (const int64_t rank : ranks) entries_.push_back({rank});
}

void ReadQueue::Focus(std::vector<int64_t> ranks) {
  std::sort(ranks.begin(), ranks.end());
  const std::lock_guard lock(entries_mutex_);
  focus_ = std::move(ranks);
}

size_t ReadQueue::Take() {
  const std::lock_guard lock(entries_mutex_);
  const auto is_free = [](const Entry& entry) { return !entry.is_taken; };
  auto next = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return is_free(entry) && std::binary_search(focus_.begin(), focus_.end(), entry.rank);
  });
  if (next == entries_.end()) next = std::find_if(entries_.begin(), entries_.end(), is_free);
  next->is_taken = true;
  return static_cast<size_t>(next - entries_.begin());
}

}  // namespace steplens::server
