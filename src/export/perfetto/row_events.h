#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace steplens::exporting {

// Divides the slices of one track among rows in which each slice lies inside another one or beside
// it, and says when a row begins and ends one: Perfetto knows no slices, only begins and ends. A
// slice that overlaps another one only partly gets to the next row.
class RowEvents {
 public:
  // `row` counts from 0. Events of a row come in order of time, an end before a begin of that time.
  using Begin = std::function<void(size_t row, int64_t ts_ns)>;
  using End = std::function<void(size_t row, int64_t ts_ns)>;
  explicit RowEvents(End end) : end_(std::move(end)) {}

  // Slices in drawing order: by begin, the longer first. `begin` is called once, after the ends
  // that come before it.
  void Add(int64_t begin_ns, int64_t end_ns, const Begin& begin) {
    size_t row = 0;
    while (!Fits(row, begin_ns, end_ns)) ++row;
    begin(row, begin_ns);
    open_[row].push_back(end_ns);
  }

  // Ends what is open.
  void Finish() {
    for (size_t row = 0; row < open_.size(); ++row) {
      for (; !open_[row].empty(); open_[row].pop_back()) end_(row, open_[row].back());
    }
  }

 private:
  // After the ends of the row until `begin_ns`.
  bool Fits(size_t row, int64_t begin_ns, int64_t end_ns) {
    if (row == open_.size()) open_.emplace_back();
    std::vector<int64_t>& open = open_[row];
    for (; !open.empty() && open.back() <= begin_ns; open.pop_back()) end_(row, open.back());
    return open.empty() || end_ns <= open.back();
  }

  End end_;
  std::vector<std::vector<int64_t>> open_;  // ends, the innermost last
};

}  // namespace steplens::exporting
