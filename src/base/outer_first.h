#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace steplens {

// Brings rows that come in the order of their ends, as recorders write them, into the order of
// their starts, outer before inner. Linear for rows that lie inside each other or apart; others are
// left in some order, and of rows that start together the later one comes first. `Row` is an index
// into begin_ns or an enum of one.
template <typename Row>
void OuterFirst(std::span<const int64_t> begin_ns, std::span<Row> rows) {
  constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  const auto start = [&](uint32_t place) { return begin_ns[static_cast<size_t>(rows[place])]; };
  // A row and all inside it, as a chain of places through `next`.
  struct Tree {
    uint32_t first;
    uint32_t last;
  };
  std::vector<uint32_t> next(rows.size(), kNone);
  std::vector<Tree> trees;  // side by side, in order
  for (uint32_t place = 0; place < rows.size(); ++place) {
    Tree tree{place, place};
    while (!trees.empty() && start(trees.back().first) >= start(place)) {
      const Tree child = trees.back();
      trees.pop_back();
      next[child.last] = next[place];
      next[place] = child.first;
      if (tree.last == place) tree.last = child.last;
    }
    trees.push_back(tree);
  }
  // Chains become places to go to, and rows are swapped until each is there: no second copy of
  // them.
  uint32_t goal = 0;
  for (const Tree& tree : trees) {
    for (uint32_t place = tree.first; place != kNone;) {
      place = std::exchange(next[place], goal++);
    }
  }
  for (uint32_t place = 0; place < rows.size(); ++place) {
    while (next[place] != place) {
      std::swap(rows[place], rows[next[place]]);
      std::swap(next[place], next[next[place]]);
    }
  }
}

}  // namespace steplens
