#include "base/string_pool.h"

#include <algorithm>

#include "base/hash.h"

namespace steplens {

// Open addressing over ids; a slot keeps the upper half of the hash so that most probes never touch
// text.
struct StringPool::Index {
  struct Slot {
    uint32_t id_plus_one = 0;
    uint32_t tag = 0;
  };
  std::vector<Slot> slots = std::vector<Slot>(1024);
  size_t used = 0;

  static uint64_t Hash(std::string_view text) { return Hash64(text); }

  // The slot that holds `text`, or the free one where it belongs.
  template <typename GetText>
  Slot& Probe(std::string_view text, uint64_t hash, const GetText& get) {
    const size_t mask = slots.size() - 1;
    const auto tag = static_cast<uint32_t>(hash >> 32);
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
      Slot& slot = slots[i];
      if (slot.id_plus_one == 0) return slot;
      if (slot.tag == tag && get(slot.id_plus_one - 1) == text) return slot;
    }
  }

  template <typename GetText>
  void Add(uint32_t id, std::string_view text, uint64_t hash, const GetText& get) {
    if ((used + 1) * 2 > slots.size()) Grow(get);
    Slot& slot = Probe(text, hash, get);
    slot = {id + 1, static_cast<uint32_t>(hash >> 32)};
    ++used;
  }

  template <typename GetText>
  void Grow(const GetText& get) {
    std::vector<Slot> old = std::move(slots);
    slots.assign(old.size() * 2, Slot{});
    const size_t mask = slots.size() - 1;
    for (const Slot& slot : old) {
      if (slot.id_plus_one == 0) continue;
      size_t i = Hash(get(slot.id_plus_one - 1)) & mask;
      while (slots[i].id_plus_one != 0) i = (i + 1) & mask;
      slots[i] = slot;
    }
  }
};

StringPool::StringPool() : offsets_{0, 0} {}
StringPool::~StringPool() = default;
StringPool::StringPool(StringPool&&) noexcept = default;
StringPool& StringPool::operator=(StringPool&&) noexcept = default;

StringPool::Index& StringPool::index() const {
  if (!index_) {
    index_ = std::make_unique<Index>();
    const auto get = [this](uint32_t id) { return Get(StringId{id}); };
    for (uint32_t id = 0; id < size(); ++id) {
      const std::string_view text = get(id);
      index_->Add(id, text, Index::Hash(text), get);
    }
  }
  return *index_;
}

std::optional<StringId> StringPool::Find(std::string_view text) const {
  if (size() == 0) return std::nullopt;  // there are no slots to look into
  Index& found = index();
  const auto get = [this](uint32_t id) { return Get(StringId{id}); };
  const Index::Slot& slot = found.Probe(text, Index::Hash(text), get);
  if (slot.id_plus_one == 0) return std::nullopt;
  return StringId{slot.id_plus_one - 1};
}

StringId StringPool::Intern(std::string_view text) {
  Index& lookup = index();
  const auto get = [this](uint32_t id) { return Get(StringId{id}); };
  const uint64_t hash = Index::Hash(text);
  const Index::Slot& slot = lookup.Probe(text, hash, get);
  if (slot.id_plus_one != 0) return StringId{slot.id_plus_one - 1};
  if (!mapped_offsets_.empty()) {  // A view cannot grow: take a copy first.
    offsets_.assign(mapped_offsets_.begin(), mapped_offsets_.end());
    bytes_.assign(mapped_bytes_.begin(), mapped_bytes_.end());
    mapped_offsets_ = {};
    mapped_bytes_ = {};
  }
  const auto id = static_cast<uint32_t>(size());
  bytes_.insert(bytes_.end(), text.begin(), text.end());
  offsets_.push_back(bytes_.size());
  lookup.Add(id, Get(StringId{id}), hash, get);
  return StringId{id};
}

bool StringPool::Attach(std::span<const uint64_t> offsets, std::span<const char> bytes) {
  if (offsets.size() < 2 || offsets[0] != 0 || offsets[1] != 0) return false;
  if (!std::is_sorted(offsets.begin(), offsets.end()) || offsets.back() != bytes.size())
    return false;
  mapped_offsets_ = offsets;
  mapped_bytes_ = bytes;
  index_.reset();
  return true;
}

}  // namespace steplens
