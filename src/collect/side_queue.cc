#include "collect/side_queue.h"

#include <utility>

namespace steplens::collect {

void SideQueue::Add(Item item) {
  const size_t size =
      item.text.size() + item.words.size() * sizeof(uint64_t) + item.bytes.size() + sizeof(Item);
  const std::lock_guard lock(mutex_);
  if (bytes_ + size > kMaxBytes) {
    dropped_ += item.is_device ? item.records : 1;
    return;
  }
  bytes_ += size;
  items_.push_back(std::move(item));
}

std::vector<SideQueue::Item> SideQueue::Take() {
  const std::lock_guard lock(mutex_);
  bytes_ = 0;
  return std::exchange(items_, {});
}

void SideQueue::Clear() {
  const std::lock_guard lock(mutex_);
  items_.clear();
  bytes_ = 0;
  dropped_ = 0;
}

uint64_t SideQueue::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

void SideQueue::ResetInChild() {
  items_.clear();
  bytes_ = 0;
  mutex_.unlock();
}

}  // namespace steplens::collect
