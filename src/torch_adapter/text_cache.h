// Ids of texts that repeat: a small direct-mapped cache in front of sl_intern, one per thread.
#ifndef STEPLENS_TORCH_ADAPTER_TEXT_CACHE_H_
#define STEPLENS_TORCH_ADAPTER_TEXT_CACHE_H_

#include <steplens/collect.h>

#include <array>
#include <cstring>
#include <string>
#include <string_view>

namespace steplens::torch_adapter {

// A fast hash of bytes; good enough to spread names over a table, not against an adversary.
inline uint64_t HashBytes(std::string_view bytes) {
  uint64_t hash = 0x9E3779B97F4A7C15u ^ bytes.size();
  const char* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    hash = (hash ^ word) * 0xD6E8FEB86659FD93u;
    hash ^= hash >> 32;
  }
  uint64_t word = 0;
  std::memcpy(&word, at, left);
  hash = (hash ^ word) * 0xD6E8FEB86659FD93u;
  return hash ^ (hash >> 29);
}

// Not for several threads. `make` turns a key that is not in the cache into the id of its text.
template <size_t kSize>
class TextCache {
  static_assert((kSize & (kSize - 1)) == 0);

 public:
  template <typename Make>
  sl_string Get(std::string_view key, Make make) {
    Entry& entry = entries_[HashBytes(key) & (kSize - 1)];
    if (entry.id != 0 && entry.key == key) return entry.id;
    entry.id = make(key);
    entry.key = key;
    return entry.id;
  }

 private:
  struct Entry {
    std::string key;
    sl_string id = 0;
  };
  std::array<Entry, kSize> entries_{};
};

// Ids of C strings, found by where they lie: names of operators stay where they are. The text is
// compared all the same, because names of ranges are temporary.
template <size_t kSize>
class NameCache {
  static_assert((kSize & (kSize - 1)) == 0);

 public:
  sl_string Get(const char* name) {
    const auto address = reinterpret_cast<uintptr_t>(name) >> 4;
    Entry& entry = entries_[(address ^ (address >> 10)) & (kSize - 1)];
    if (entry.id != 0 && std::strcmp(entry.name.c_str(), name) == 0) return entry.id;
    entry.name = name;
    entry.id = sl_intern(name, entry.name.size());
    return entry.id;
  }

 private:
  struct Entry {
    std::string name;
    sl_string id = 0;
  };
  std::array<Entry, kSize> entries_{};
};

inline sl_string InternText(std::string_view text) { return sl_intern(text.data(), text.size()); }

}  // namespace steplens::torch_adapter

#endif
