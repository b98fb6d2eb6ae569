#include "readers/prof/api_tree.h"

#include "format/prof/host_records.h"

namespace steplens::readers::prof {
namespace {

namespace raw = format::prof;

constexpr uint8_t kMaxDepth = 20;
constexpr uint8_t kMaxTaskDepth = 5;

}  // namespace

std::optional<size_t> ApiTree::LevelIndex(uint16_t level) {
  switch (level) {
    case raw::kLevelAcl:
      return 0;
    case raw::kLevelModel:
      return 1;
    case raw::kLevelNode:
      return 2;
    case raw::kLevelCommunication:
      return 3;
    default:
      return std::nullopt;
  }
}

ApiTree::ApiTree(std::vector<Api> apis) : apis_(std::move(apis)) {
  const auto before = [](const Api& a, const Api& b) {
    return std::tie(a.begin, b.level) < std::tie(b.begin, a.level);
  };
  if (!std::is_sorted(apis_.begin(), apis_.end(), before))
    std::stable_sort(apis_.begin(), apis_.end(), before);
  std::map<uint32_t, std::vector<uint32_t>> threads;
  std::vector<uint32_t>* current = nullptr;
  for (size_t i = 0; i < apis_.size(); ++i) {
    const Api& api = apis_[i];
    if (!LevelIndex(api.level) || api.begin >= api.end) continue;
    if (current == nullptr || apis_[current->back()].thread != api.thread)
      current = &threads[api.thread];
    current->push_back(static_cast<uint32_t>(i));
  }
  for (const auto& [thread, list] : threads) BuildThread(thread, list);
}

void ApiTree::BuildThread(uint32_t thread, const std::vector<uint32_t>& apis) {
  const size_t first = nodes_.size();
  std::array<std::optional<std::pair<uint64_t, uint64_t>>, 4> last;  // begin and end, by level
  std::array<size_t, 4> level_first;
  for (size_t i = 0; i < levels_.size(); ++i) level_first[i] = levels_[i].nodes.size();
  std::vector<uint32_t> stack;
  for (const uint32_t index : apis) {
    const Api& api = apis_[index];
    const size_t level = *LevelIndex(api.level);
    if (api.level != raw::kLevelNode) {
      // Calls of one level do not overlap: what does is damaged or from another layer below.
      const auto& kept = last[level];
      if (kept && kept->second >= api.begin && api.end >= kept->first) continue;
      last[level] = {api.begin, api.end};
    }
    while (!stack.empty() && ApiOf(stack.back()).end < api.end) stack.pop_back();
    if (stack.size() >= kMaxDepth) continue;
    const auto node = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back({index, stack.empty() ? kNoNode : stack.back(),
                      static_cast<uint32_t>(levels_[level].nodes.size()),
                      static_cast<uint8_t>(stack.size())});
    levels_[level].nodes.push_back(node);
    stack.push_back(node);
  }
  for (size_t i = 0; i < levels_.size(); ++i)
    levels_[i].threads[thread] = {level_first[i], levels_[i].nodes.size()};
  threads_[thread] = {first, nodes_.size()};
}

std::span<const uint32_t> ApiTree::LevelNodes(uint16_t level, uint32_t thread) const {
  const LevelList& list = Of(level);
  const auto found = list.threads.find(thread);
  if (found == list.threads.end()) return {};
  return std::span(list.nodes)
      .subspan(found->second.first, found->second.last - found->second.first);
}

ApiTree::Range ApiTree::ThreadNodes(uint32_t thread) const {
  const auto found = threads_.find(thread);
  return found == threads_.end() ? Range{} : found->second;
}

uint32_t ApiTree::Ancestor(uint32_t node, uint16_t level) const {
  while (node != kNoNode && ApiOf(node).level != level) node = nodes_[node].parent;
  return node;
}

Attached GroupByNode(size_t nodes, const std::vector<std::pair<uint32_t, uint32_t>>& pairs) {
  Attached out;
  if (pairs.empty()) return out;
  out.first.assign(nodes + 1, 0);
  for (const auto& [node, row] : pairs) ++out.first[node + 1];
  for (size_t i = 1; i <= nodes; ++i) out.first[i] += out.first[i - 1];
  std::vector<uint32_t> next(out.first.begin(), out.first.end() - 1);
  out.rows.resize(pairs.size());
  for (const auto& [node, row] : pairs) out.rows[next[node]++] = row;
  return out;
}

std::vector<uint32_t> PlaceTasks(const ApiTree& tree, const std::vector<LaunchedTask>& tasks) {
  std::vector<uint32_t> places(tasks.size(), kNoNode);
  std::vector<uint32_t> stack;
  ApiTree::Range range;
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (i == 0 || tasks[i].thread != tasks[i - 1].thread) {
      range = tree.ThreadNodes(tasks[i].thread);
      stack.clear();
    }
    const uint64_t time = tasks[i].time;
    while (range.first < range.last &&
           tree.ApiOf(static_cast<uint32_t>(range.first)).begin < time) {
      const auto node = static_cast<uint32_t>(range.first++);
      while (!stack.empty() && stack.back() != tree.nodes()[node].parent) stack.pop_back();
      stack.push_back(node);
    }
    while (!stack.empty() && tree.ApiOf(stack.back()).end < time) stack.pop_back();
    if (!stack.empty()) places[i] = stack[std::min<size_t>(stack.size(), kMaxTaskDepth) - 1];
  }
  return places;
}

}  // namespace steplens::readers::prof
