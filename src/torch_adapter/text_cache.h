// Ids of names that repeat: a small direct-mapped cache in front of sl_intern, one per thread.
#ifndef STEPLENS_TORCH_ADAPTER_TEXT_CACHE_H_
#define STEPLENS_TORCH_ADAPTER_TEXT_CACHE_H_

#include <steplens/collect.h>

#include <array>
#include <cstring>
#include <string_view>

namespace steplens::torch_adapter {

// Ids of C strings, found by where they lie: names of operators stay where they are. The text is
// compared all the same, because names of ranges are temporary. It is kept in the entry, so that a
// name costs one place in the processor's cache.
template <size_t kSize>
class NameCache {
  static_assert((kSize & (kSize - 1)) == 0);

 public:
  sl_string Get(const char* name) {
    const auto address = reinterpret_cast<uintptr_t>(name) >> 4;
    Entry& entry = entries_[(address ^ (address >> 10)) & (kSize - 1)];
    if (__builtin_expect(entry.id != 0 && std::strcmp(entry.name, name) == 0, 1)) return entry.id;
    return Put(name, &entry);
  }

 private:
  struct alignas(64) Entry {
    sl_string id = 0;
    char name[124] = {};
  };

  __attribute__((noinline)) static sl_string Put(const char* name, Entry* entry) {
    const size_t length = std::strlen(name);
    const sl_string id = sl_intern(name, length);
    if (length >= sizeof(entry->name)) return id;  // too long to be remembered
    std::memcpy(entry->name, name, length + 1);
    entry->id = id;
    return id;
  }

  std::array<Entry, kSize> entries_{};
};

inline sl_string InternText(std::string_view text) { return sl_intern(text.data(), text.size()); }

}  // namespace steplens::torch_adapter

#endif
