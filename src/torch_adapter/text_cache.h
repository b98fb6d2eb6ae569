// Ids of names that repeat: small caches in front of sl_intern, one set per thread.
#ifndef STEPLENS_TORCH_ADAPTER_TEXT_CACHE_H_
#define STEPLENS_TORCH_ADAPTER_TEXT_CACHE_H_

#include <steplens/collect.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace steplens::torch_adapter {

inline sl_string InternText(std::string_view text) { return sl_intern(text.data(), text.size()); }

// What a name stands for, so that its letters are looked at once.
enum class NameKind : uint8_t {
  kPlain,
  kCall,  // of a collective
  kWork,  // of a collective
  kNode,  // the autograd engine's range around a node
};

struct KnownName {
  sl_string id = 0;
  NameKind kind = NameKind::kPlain;
};

NameKind KindOf(std::string_view name);

// Names of one thread.
class NameCache {
 public:
  // Of a text that stays where it is, as it is, until the next Forget. It is not looked at if it is
  // known: an operator's name is seldom in a near cache.
  KnownName GetByPlace(const std::string* name) {
    Place& place = PlaceOf(name);
    if (place.name == name) return {place.plain, NameKind::kPlain};
    const KnownName known = GetByText(name->c_str());
    if (known.kind == NameKind::kPlain) place = {name, known.id};
    return known;
  }
  // Its id if it is plain and was asked for lately, else nullptr.
  const sl_string* FindPlain(const std::string* name) {
    const Place& place = PlaceOf(name);
    return __builtin_expect(place.name == name, 1) ? &place.plain : nullptr;
  }

  // Of one that was made for the occasion. The text is kept in the entry, so that a name costs one
  // place in the processor's cache.
  KnownName GetByText(const char* name) {
    const size_t length = std::strlen(name);
    Entry* const ways = &texts_[Hash(name, length) % kTexts & ~size_t{1}];
    if (__builtin_expect(ways[0].Is(name), 1)) return ways[0].known;
    if (ways[1].Is(name)) return ways[1].known;
    const KnownName known{sl_intern(name, length), KindOf({name, length})};
    if (length >= sizeof(ways->text)) return known;  // too long to be remembered
    ways[1] = ways[0];
    std::memcpy(ways[0].text, name, length + 1);
    ways[0].known = known;
    return known;
  }

  // Names may be elsewhere now.
  void Forget() { places_.fill({}); }

 private:
  static constexpr size_t kPlaces = 512;
  static constexpr size_t kTexts = 256;

  struct Place {
    const std::string* name = nullptr;
    sl_string plain = 0;  // only plain names are kept
  };
  struct alignas(64) Entry {
    KnownName known;
    char text[128 - sizeof(KnownName)] = {};

    bool Is(const char* name) const { return known.id != 0 && std::strcmp(text, name) == 0; }
  };

  Place& PlaceOf(const std::string* name) {
    const auto address = reinterpret_cast<uintptr_t>(name) >> 4;
    return places_[(address ^ (address >> 9)) % kPlaces];
  }

  static size_t Hash(const char* name, size_t length) {
    constexpr uint64_t kFactor = 0x9E3779B97F4A7C15u;
    uint64_t hash = length;
    const auto add = [&hash](const char* from, size_t count) {
      uint64_t word = 0;
      std::memcpy(&word, from, count);
      hash = (hash ^ word) * kFactor;
    };
    if (length < 8) {
      add(name, length);
    } else {
      for (size_t at = 0; at + 8 < length; at += 8) add(name + at, 8);
      add(name + length - 8, 8);
    }
    return static_cast<size_t>(hash >> 40);
  }

  std::array<Place, kPlaces> places_{};
  std::array<Entry, kTexts> texts_{};
};

}  // namespace steplens::torch_adapter

#endif
