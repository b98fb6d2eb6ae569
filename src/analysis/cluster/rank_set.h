#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace steplens::analysis::cluster {

// The members of a group, ascending, as runs of equal stride: groups of a regular layout are one
// run, however many ranks they have.
class RankSet {
 public:
  RankSet() = default;
  explicit RankSet(std::vector<int64_t> ranks);  // in any order, repeats allowed

  std::vector<int64_t> ranks() const;
  bool empty() const { return runs_.empty(); }
  size_t size() const;
  bool Contains(int64_t rank) const;
  bool operator==(const RankSet&) const = default;

  // "(0, 1, 2)" with ", ", "(0,1,2)" with ","; one member: "(3,)" as Python prints a tuple, or
  // "(3)" with ",".
  std::string ToText(std::string_view separator) const;

  // "0-3,8" or, for runs that leave out ranks, "0-12:4": every fourth from 0 to 12.
  std::string ToShortText() const;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(runs_);
  }

 private:
  struct Run {
    int64_t first = 0;
    int64_t stride = 1;
    int64_t count = 0;
    bool operator==(const Run&) const = default;
    template <typename Archive>
    void Fields(Archive& archive) {
      archive(first, stride, count);
    }
  };
  std::vector<Run> runs_;
};

}  // namespace steplens::analysis::cluster
