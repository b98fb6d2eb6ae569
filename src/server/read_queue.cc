#include "server/read_queue.h"

#include <algorithm>
#include <utility>

namespace steplens::server {

void ReadQueue::Start(std::vector<Found> found) {
  const std::lock_guard lock(entries_mutex_);
  bool all_sure = true;
  for (Found& one : found) {
    all_sure = all_sure && one.is_sure;
    if (all_sure) sure_claims_.emplace(one.rank, entries_.size());
    entries_.push_back({std::move(one)});
  }
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
    return is_free(entry) && std::binary_search(focus_.begin(), focus_.end(), entry.found.rank);
  });
  if (next == entries_.end()) next = std::find_if(entries_.begin(), entries_.end(), is_free);
  next->is_taken = true;
  return static_cast<size_t>(next - entries_.begin());
}

std::vector<ReadQueue::Numbered> ReadQueue::Done(size_t index, std::optional<int64_t> rank) {
  const std::lock_guard lock(entries_mutex_);
  Entry& entry = entries_[index];
  entry.rank = rank;
  entry.is_done = true;
  std::vector<Numbered> out;
  const auto claim = sure_claims_.find(entry.found.rank);
  if (claim != sure_claims_.end() && claim->second == index && rank == entry.found.rank) {
    NumberOne(index, out);
  }
  for (; first_undone_ < entries_.size() && entries_[first_undone_].is_done; ++first_undone_) {
    NumberOne(first_undone_, out);
  }
  return out;
}

void ReadQueue::NumberOne(size_t index, std::vector<Numbered>& out) {
  Entry& entry = entries_[index];
  if (!entry.rank || entry.is_numbered) return;
  entry.is_numbered = true;
  if (*entry.rank < 0) {
    out.push_back({index, Number::kUnknown});
  } else {
    const bool is_first = numbers_.emplace(*entry.rank, index).second;
    out.push_back({index, is_first ? Number::kOwn : Number::kTaken});
  }
}

int64_t ReadQueue::TakeFreeNumber() {
  const std::lock_guard lock(entries_mutex_);
  while (!numbers_.emplace(next_free_, 0).second) ++next_free_;
  return next_free_;
}

}  // namespace steplens::server
