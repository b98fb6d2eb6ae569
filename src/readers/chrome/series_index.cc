#include "readers/chrome/series_index.h"

#include "readers/chrome/value_scan.h"

namespace steplens::readers {
namespace {

bool Same(const SeriesIndex::Texts& a, const SeriesIndex::Texts& b) {
  return SameText(a.name, b.name) && SameText(a.label, b.label) && SameText(a.pid, b.pid);
}

}  // namespace

uint32_t SeriesIndex::Find(const Texts& texts, EventBatch& batch) {
  uint32_t found = known_.empty() ? 0 : known_[last_].next;
  if (known_.empty() || !Same(known_[found].texts, texts)) {
    found = Look(texts, batch);
    known_[last_].next = found;
  }
  last_ = found;
  return found;
}

uint32_t SeriesIndex::Look(const Texts& texts, EventBatch& batch) {
  const EventBatch::Series series{batch.strings.Intern(texts.pid), batch.strings.Intern(texts.name),
                                  batch.strings.Intern(texts.label)};
  const uint64_t owner = (uint64_t{series.pid} << 32) | series.name;
  const auto [place, is_new] =
      ids_.insert({{owner, series.label}, static_cast<uint32_t>(known_.size())});
  if (is_new) {
    known_.push_back({texts});
    batch.series.push_back(series);
  }
  return place->second;
}

void SeriesIndex::Clear() {
  known_.clear();
  ids_.clear();
  last_ = 0;
}

}  // namespace steplens::readers
