#include "server/timeline/tile_cache.h"

namespace steplens::server {

size_t TileCache::Hash::operator()(const Key& key) const {
  const uint64_t a = uint64_t{key.align} << 32 | key.track;
  const uint64_t b = uint64_t{key.level} << 32 | uint64_t{static_cast<uint8_t>(key.shade)} << 40 |
                     uint64_t{key.rules} << 44 | key.index;
  return static_cast<size_t>((a * 0x9E3779B97F4A7C15u) ^ (b * 0xC2B2AE3D27D4EB4Fu) ^ (b >> 29));
}

std::shared_ptr<const std::string> TileCache::Find(const Key& key) {
  const std::lock_guard lock(mutex_);
  const auto found = index_.find(key);
  if (found == index_.end()) return nullptr;
  recent_.splice(recent_.begin(), recent_, found->second);
  return found->second->tile;
}

void TileCache::Insert(const Key& key, std::shared_ptr<const std::string> tile) {
  const std::lock_guard lock(mutex_);
  if (index_.contains(key)) return;
  bytes_ += Cost(*tile);
  recent_.push_front({key, std::move(tile)});
  index_[key] = recent_.begin();
  Shrink();
}

void TileCache::Clear() {
  const std::lock_guard lock(mutex_);
  index_.clear();
  recent_.clear();
  bytes_ = 0;
}

void TileCache::SetLimit(size_t limit_bytes) {
  const std::lock_guard lock(mutex_);
  limit_bytes_ = limit_bytes;
  Shrink();
}

void TileCache::Shrink() {
  while (bytes_ > limit_bytes_ && !recent_.empty()) {
    bytes_ -= Cost(*recent_.back().tile);
    index_.erase(recent_.back().key);
    recent_.pop_back();
  }
}

}  // namespace steplens::server
