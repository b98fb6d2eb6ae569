#pragma once

#include <algorithm>
#include <cstddef>

namespace steplens {

// Neighbouring items: begin <= i < end.
struct ItemRun {
  size_t begin = 0;
  size_t end = 0;

  bool empty() const { return begin == end; }
  size_t size() const { return end - begin; }
  bool operator==(const ItemRun&) const = default;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(begin, end);
  }
};

// Divides items among members whose speed nobody knows: everybody begins with a run that all know
// without asking, then takes one after the other of what is left. Runs become shorter, so that all
// end at about the same time, and no longer than a bound, so that little waits for its turn.
class RunDivision {
 public:
  RunDivision(size_t count, size_t members)
      : count_(count), members_(members), first_size_(Size(count)), next_(first_size_ * members) {}

  // The first run of a member; empty where there are few items.
  ItemRun First(size_t member) const { return {first_size_ * member, first_size_ * (member + 1)}; }
  // The next run; empty: all are given away.
  ItemRun Next() {
    const size_t begin = next_;
    const size_t left = count_ - begin;
    next_ += std::min(std::max<size_t>(Size(left), 1), left);
    return {begin, next_};
  }

 private:
  // Half of what is left, in equal runs.
  size_t Size(size_t left) const { return std::min(left / (2 * members_), kMostItems); }

  static constexpr size_t kMostItems = 256;
  size_t count_;
  size_t members_;
  size_t first_size_;
  size_t next_;
};

}  // namespace steplens
