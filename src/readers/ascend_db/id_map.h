#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace steplens::readers {

// A map from ids of the database to T. Ids mostly come in a few dense runs (0, 1, 2, ..., 2^28,
// 2^28 + 1, ...), so the values of a run lie in one array and a look-up is a subtraction. Scattered
// ids cost a binary search over the runs, never more memory than a small multiple of their number.
//
//   Add all, then Build, then Find. Of equal ids the one added last counts.
template <typename T>
class IdMap {
 public:
  // `missing` is what Find gives for an id that was not added.
  explicit IdMap(T missing) : missing_(missing) {}

  void Add(int64_t id, T value) { items_.emplace_back(id, value); }

  void Build() {
    const auto by_id = [](const Item& a, const Item& b) { return a.first < b.first; };
    if (!std::is_sorted(items_.begin(), items_.end(), by_id)) {
      std::stable_sort(items_.begin(), items_.end(), by_id);
    }
    runs_.clear();
    values_.clear();
    for (const Item& item : items_) Append(item.first, item.second);
    items_ = {};
  }

  T Find(int64_t id) const {
    if (runs_.empty()) return missing_;
    if (!Holds(runs_[last_], id)) {
      const auto after =
          std::upper_bound(runs_.begin(), runs_.end(), id,
                           [](int64_t key, const Run& run) { return key < run.first_id; });
      if (after == runs_.begin()) return missing_;
      last_ = static_cast<size_t>(after - runs_.begin()) - 1;
      if (!Holds(runs_[last_], id)) return missing_;
    }
    const Run& run = runs_[last_];
    return values_[run.offset + Distance(run.first_id, id)];
  }

 private:
  using Item = std::pair<int64_t, T>;
  struct Run {
    int64_t first_id;
    size_t offset;  // into values_
    size_t size;
  };
  // Holes up to this many ids are filled with `missing_` rather than starting a new run.
  static constexpr uint64_t kMaxHole = 8;

  // b - a for a <= b, for any two ids.
  static uint64_t Distance(int64_t a, int64_t b) {
    return static_cast<uint64_t>(b) - static_cast<uint64_t>(a);
  }
  static bool Holds(const Run& run, int64_t id) {
    return id >= run.first_id && Distance(run.first_id, id) < run.size;
  }

  void Append(int64_t id, T value) {
    if (!runs_.empty()) {
      Run& run = runs_.back();
      const uint64_t index = Distance(run.first_id, id);
      if (index < run.size) {
        values_[run.offset + index] = value;
        return;
      }
      if (index - run.size <= kMaxHole) {
        values_.resize(run.offset + index, missing_);
        values_.push_back(value);
        run.size = index + 1;
        return;
      }
    }
    runs_.push_back({id, values_.size(), 1});
    values_.push_back(value);
  }

  T missing_;
  std::vector<Item> items_;
  std::vector<Run> runs_;
  std::vector<T> values_;
  mutable size_t last_ = 0;  // the run found last: look-ups come in order
};

}  // namespace steplens::readers
