#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "readers/prof/host_records.h"
#include "store/unknown.h"

namespace steplens::readers::prof {

inline constexpr uint32_t kNoNode = store::kNoId;

// The calls of the host as trees, one per thread: calls of AscendCL, the model, nodes and
// communication, each inside those that were running when it began.
class ApiTree {
 public:
  struct Node {
    uint32_t api = 0;
    uint32_t parent = kNoNode;
    uint32_t ordinal = 0;  // among the nodes of its level
    uint8_t depth = 0;
  };
  // The nodes [first, last) of a level that one thread has, by their begin.
  struct Range {
    size_t first = 0;
    size_t last = 0;
  };

  explicit ApiTree(std::vector<Api> apis);

  // Keeps the calls only.
  void ForgetNodes() {
    nodes_ = {};
    levels_ = {};
    threads_.clear();
  }

  // All calls, by begin and, of those that begin together, outer levels first.
  const std::vector<Api>& apis() const { return apis_; }
  const std::vector<Node>& nodes() const { return nodes_; }  // by thread, then by begin
  const Api& ApiOf(uint32_t node) const { return apis_[nodes_[node].api]; }
  // What a call and the tasks that it launched have in common.
  static uint32_t ConnectionOf(uint32_t api) { return api + 1; }
  uint32_t Connection(uint32_t node) const { return ConnectionOf(nodes_[node].api); }

  const std::vector<uint32_t>& LevelNodes(uint16_t level) const { return Of(level).nodes; }
  std::span<const uint32_t> LevelNodes(uint16_t level, uint32_t thread) const;
  Range ThreadNodes(uint32_t thread) const;

  // The node itself or the nearest one around it that is of the level; kNoNode if there is none.
  uint32_t Ancestor(uint32_t node, uint16_t level) const;

 private:
  struct LevelList {
    std::vector<uint32_t> nodes;
    std::map<uint32_t, Range> threads;
  };
  static std::optional<size_t> LevelIndex(uint16_t level);
  const LevelList& Of(uint16_t level) const { return levels_[*LevelIndex(level)]; }
  void BuildThread(uint32_t thread, const std::vector<uint32_t>& apis);

  std::vector<Api> apis_;
  std::vector<Node> nodes_;
  std::array<LevelList, 4> levels_;
  std::map<uint32_t, Range> threads_;
};

// Which rows belong to each node of a level, by ordinal.
struct Attached {
  std::vector<uint32_t> first;  // ordinal -> its first in `rows`; one more at the end
  std::vector<uint32_t> rows;
  std::span<const uint32_t> Of(uint32_t ordinal) const {
    if (ordinal + 1 >= first.size()) return {};
    return {rows.data() + first[ordinal], first[ordinal + 1] - first[ordinal]};
  }
};

// Pairs of (ordinal, row) as Attached; rows of a node keep their order.
Attached GroupByNode(size_t nodes, const std::vector<std::pair<uint32_t, uint32_t>>& pairs);

// Puts rows in the order of their threads and times.
template <typename Row>
void SortByThread(std::vector<Row>& rows) {
  const auto before = [](const Row& a, const Row& b) {
    return std::tie(a.thread, a.time) < std::tie(b.thread, b.time);
  };
  if (!std::is_sorted(rows.begin(), rows.end(), before))
    std::stable_sort(rows.begin(), rows.end(), before);
}

// The call of the level that was running when each row was recorded. Rows are in the order of
// SortByThread; those for which `use(row)` is false are left out. `inner`: of calls inside each
// other the second, else the outermost. `lost` counts rows outside of all calls.
template <typename Row, typename Use>
Attached Attach(const ApiTree& tree, uint16_t level, const std::vector<Row>& rows, bool inner,
                uint64_t& lost, const Use& use) {
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  pairs.reserve(rows.size());
  std::span<const uint32_t> nodes;
  size_t at = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i == 0 || rows[i].thread != rows[i - 1].thread) {
      nodes = tree.LevelNodes(level, rows[i].thread);
      at = 0;
    }
    if (!use(rows[i])) continue;
    const uint64_t time = rows[i].time;
    while (at < nodes.size() && tree.ApiOf(nodes[at]).end < time) ++at;
    if (at == nodes.size() || tree.ApiOf(nodes[at]).begin >= time) {
      ++lost;
      continue;
    }
    uint32_t node = nodes[at];
    for (size_t k = at + 1; inner && k < nodes.size() && tree.ApiOf(nodes[k]).begin < time; ++k) {
      if (tree.ApiOf(nodes[k]).end < time) continue;
      node = nodes[k];
      break;
    }
    pairs.emplace_back(tree.nodes()[node].ordinal, static_cast<uint32_t>(i));
  }
  return GroupByNode(tree.LevelNodes(level).size(), pairs);
}

// The innermost call (of at most five) that was running when each task was launched; kNoNode
// outside of all. Tasks are in the order of SortByThread.
std::vector<uint32_t> PlaceTasks(const ApiTree& tree, const std::vector<LaunchedTask>& tasks);

}  // namespace steplens::readers::prof
