#include "readers/chrome/local_strings.h"

#include <algorithm>

#include "base/hash.h"
#include "readers/chrome/value_scan.h"

namespace steplens::readers {

uint32_t LocalStrings::Intern(std::string_view text) {
  const uint64_t hash = Hash64(text);
  const auto tag = static_cast<uint32_t>(hash >> 32);
  const size_t mask = slots_.size() - 1;
  size_t i = hash & mask;
  for (; slots_[i].id_plus_one != 0; i = (i + 1) & mask) {
    if (slots_[i].tag == tag && SameText(texts_[slots_[i].id_plus_one - 1], text)) {
      return slots_[i].id_plus_one - 1;
    }
  }
  const auto id = static_cast<uint32_t>(texts_.size());
  slots_[i] = {id + 1, tag};
  texts_.push_back(text);
  hashes_.push_back(hash);
  if (texts_.size() * 2 > slots_.size()) Grow();
  return id;
}

void LocalStrings::Grow() {
  slots_.assign(slots_.size() * 2, Slot{});
  const size_t mask = slots_.size() - 1;
  for (uint32_t id = 0; id < texts_.size(); ++id) {
    size_t i = hashes_[id] & mask;
    while (slots_[i].id_plus_one != 0) i = (i + 1) & mask;
    slots_[i] = {id + 1, static_cast<uint32_t>(hashes_[id] >> 32)};
  }
}

void LocalStrings::Clear() {
  std::fill(slots_.begin(), slots_.end(), Slot{});
  texts_.clear();
  hashes_.clear();
}

}  // namespace steplens::readers
