#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "server/timeline/shades.h"

namespace steplens::server {

// Finished tiles, the least recently used dropped first. Thread safe.
class TileCache {
 public:
  struct Key {
    uint32_t align = 0;
    uint32_t track = 0;
    uint32_t level = 0;
    uint32_t index = 0;
    ShadeBy shade = ShadeBy::kNone;
    uint32_t rules = 0;  // number of the rules that it is shaded by
    bool operator==(const Key&) const = default;
  };

  explicit TileCache(size_t limit_bytes) : limit_bytes_(limit_bytes) {}

  // Shared: a tile that is being sent may be dropped from the cache meanwhile.
  std::shared_ptr<const std::string> Find(const Key& key);
  void Insert(const Key& key, std::shared_ptr<const std::string> tile);
  void Clear();
  void SetLimit(size_t limit_bytes);

 private:
  struct Hash {
    size_t operator()(const Key& key) const;
  };
  struct Entry {
    Key key;
    std::shared_ptr<const std::string> tile;
  };
  static size_t Cost(const std::string& tile) { return tile.size() + 128; }
  void Shrink();

  std::mutex mutex_;
  size_t limit_bytes_;
  size_t bytes_ = 0;
  std::list<Entry> recent_;  // most recent first
  std::unordered_map<Key, std::list<Entry>::iterator, Hash> index_;
};

}  // namespace steplens::server
