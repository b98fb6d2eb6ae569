#include "analysis/compare/op_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "analysis/compare/rounding.h"
#include "analysis/time_math.h"

namespace steplens::analysis::compare {
namespace {

using store::kNoId;
using store::kNone;
using store::TraceStore;

// What the queue's own thread did, and who asked for it.
class QueueFinder {
 public:
  explicit QueueFinder(const Side& side) {
    const TraceStore& store = side.store;
    std::unordered_map<int64_t, int64_t> enqueue_at;
    for (size_t i = 0; i < store.slices.size(); ++i) {
      const SliceKind kind = side.view.slice_kinds()[store.slices.category[i]];
      const int64_t begin_ns = store.slices.begin_ns[i];
      const int64_t id = store.slices.correlation[i];
      if (kind == SliceKind::kEnqueue && id != kNone) enqueue_at[id] = begin_ns;
      if (kind == SliceKind::kDequeue) {
        dequeues_.push_back({begin_ns, EndNs(begin_ns, store.slices.dur_ns[i]), id});
      }
    }
    for (Dequeue& dequeue : dequeues_) {
      const auto asked = enqueue_at.find(dequeue.enqueue_ns);
      dequeue.enqueue_ns = asked == enqueue_at.end() ? 0 : asked->second;
    }
    std::stable_sort(dequeues_.begin(), dequeues_.end(),
                     [](const Dequeue& a, const Dequeue& b) { return a.begin_ns < b.begin_ns; });
  }
  // When the work was enqueued during which the time lies; nothing outside of all work.
  std::optional<int64_t> EnqueuedAt(int64_t ns) const {
    const auto after = std::upper_bound(
        dequeues_.begin(), dequeues_.end(), ns,
        [](int64_t time, const Dequeue& dequeue) { return time < dequeue.begin_ns; });
    if (after == dequeues_.begin() || (after - 1)->end_ns < ns) return std::nullopt;
    return (after - 1)->enqueue_ns;
  }

 private:
  struct Dequeue {
    int64_t begin_ns;
    int64_t end_ns;
    int64_t enqueue_ns;  // its correlation, until the enqueue is known
  };
  std::vector<Dequeue> dequeues_;
};

// In which order the reference reads them.
std::vector<uint32_t> ReadingOrder(const Side& side, bool compat) {
  const store::AllocationTable& rows = side.store.allocations;
  std::vector<uint32_t> order(rows.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  if (compat && side.is_db) {
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return rows.release_ns[a] < rows.release_ns[b];
    });
  }
  return order;
}

// Whether the block is one of a device.
bool IsDeviceBlock(std::string_view device) { return device != "CPU"; }

// The difference of two doubles of microseconds since the epoch, which step by 0.25.
int64_t DoubleDuration(const MemoryRecord& record) {
  const double us = EpochUs(record.release_ns) - EpochUs(record.alloc_ns);
  return static_cast<int64_t>(std::llround(us * 1000));
}

class TreeBuilder {
 public:
  TreeBuilder(const Side& side, OpTree& tree, bool compat)
      : side_(side), tree_(tree), compat_(compat) {}

  void Build() {
    tree_.nodes.assign(1, {});
    tree_.nodes.reserve(side_.ops.size() + 1);
    std::vector<uint32_t> blocks(tree_.memory.size());
    for (uint32_t i = 0; i < blocks.size(); ++i) blocks[i] = i;
    std::stable_sort(blocks.begin(), blocks.end(), [&](uint32_t a, uint32_t b) {
      return tree_.memory[a].at_ns < tree_.memory[b].at_ns;
    });
    size_t next = 0;
    const auto add_blocks_before = [&](int64_t ns, bool is_last) {
      while (next < blocks.size() && (is_last || tree_.memory[blocks[next]].at_ns < ns)) {
        AddBlock(blocks[next++]);
      }
    };
    for (uint32_t op = 0; op < side_.ops.size(); ++op) {
      add_blocks_before(side_.ops[op].begin_ns, false);
      AddOp(op);
    }
    add_blocks_before(0, true);
    CountKernels();
  }

 private:
  using Stack = std::vector<uint32_t>;

  Stack& StackOf(store::TrackId track) { return stacks_[compat_ ? store::kNoTrack : track]; }
  void Close(Stack& stack, int64_t ns) const {
    const auto end_of = [&](uint32_t node) { return side_.ops[tree_.nodes[node].op].end_ns; };
    // Two operators that touch follow each other; the reference has the second inside the first.
    while (!stack.empty() && (compat_ ? ns > end_of(stack.back()) : ns >= end_of(stack.back()))) {
      stack.pop_back();
    }
  }

  void AddOp(uint32_t op) {
    Stack& stack = StackOf(side_.ops[op].track);
    const HostEvent& event = side_.ops[op];
    Close(stack, event.begin_ns);
    if (!compat_) {
      // One that outlives the operator around it is no part of it.
      while (!stack.empty() && side_.ops[tree_.nodes[stack.back()].op].end_ns < event.end_ns) {
        stack.pop_back();
      }
    }
    const auto node = static_cast<uint32_t>(tree_.nodes.size());
    tree_.nodes[stack.empty() ? 0 : stack.back()].children.push_back(node);
    tree_.nodes.push_back({op, {}, {}, side_.EventsOf(event).size()});
    stack.push_back(node);
    last_stack_ = &stack;
  }

  // Which thread allocated it is not recorded: it was the one that started an operator last, unless
  // that is over; then any that is inside one.
  void AddBlock(uint32_t block) {
    MemoryRecord& record = tree_.memory[block];
    uint32_t node = 0;
    if (last_stack_ != nullptr) {
      Close(*last_stack_, record.at_ns);
      if (!last_stack_->empty()) node = last_stack_->back();
    }
    if (node == 0) {
      for (auto& [track, stack] : stacks_) {
        Close(stack, record.at_ns);
        if (!stack.empty() && node < stack.back()) node = stack.back();
      }
    }
    tree_.nodes[node].memory.push_back(block);
    if (!record.keeps_name && node != 0) record.name = side_.ops[tree_.nodes[node].op].name;
  }

  void CountKernels() {
    // Children come after their parents.
    for (size_t node = tree_.nodes.size(); node-- > 0;) {
      for (const uint32_t child : tree_.nodes[node].children) {
        tree_.nodes[node].kernel_count += tree_.nodes[child].kernel_count;
      }
    }
  }

  const Side& side_;
  OpTree& tree_;
  const bool compat_;
  std::map<store::TrackId, Stack> stacks_;
  Stack* last_stack_ = nullptr;
};

std::vector<uint32_t> TopNodes(const Side& side, const OpTree& tree, bool compat) {
  std::vector<uint32_t> top;
  const std::string wanted =
      side.step ? fmt::format("ProfilerStep#{}", side.step->step) : std::string();
  for (const uint32_t node : tree.nodes[0].children) {
    const HostEvent& op = side.ops[tree.nodes[node].op];
    const std::vector<uint32_t>& children = tree.nodes[node].children;
    if (IsStepName(op.name)) {
      const bool is_wanted = wanted.empty() || op.name == wanted || (!compat && side.is_filtered);
      if (is_wanted) top.insert(top.end(), children.begin(), children.end());
    } else if (wanted.empty() || !compat) {
      top.push_back(node);
    }
  }
  if (!compat) {
    std::stable_sort(top.begin(), top.end(), [&](uint32_t a, uint32_t b) {
      return side.ops[tree.nodes[a].op].begin_ns < side.ops[tree.nodes[b].op].begin_ns;
    });
  }
  return top;
}

}  // namespace

bool IsStepName(std::string_view name) {
  return name.find("ProfilerStep#") != std::string_view::npos;
}

std::vector<MemoryRecord> CollectMemory(const Side& side, bool compat) {
  const store::AllocationTable& rows = side.store.allocations;
  std::optional<QueueFinder> queue;
  std::vector<MemoryRecord> records;
  for (const uint32_t i : ReadingOrder(side, compat)) {
    if (rows.alloc_ns[i] == kNone || rows.alloc_ns[i] == 0) continue;
    if (side.is_gpu && !IsDeviceBlock(side.store.Text(rows.device[i]))) continue;
    MemoryRecord record;
    record.name = side.store.Text(rows.name[i]);
    record.size_bytes = rows.size_bytes[i].value_or(0);
    record.alloc_ns = rows.alloc_ns[i];
    record.at_ns = record.alloc_ns;
    record.release_ns = rows.release_ns[i] == 0 ? kNone : rows.release_ns[i];
    if (side.is_filtered) {
      const bool is_over =
          record.release_ns == kNone ? compat : record.release_ns < side.step->host_begin_ns;
      if (is_over || record.alloc_ns > side.step->host_end_ns) continue;
    }
    // The db itself has no such names, so the reference places all its rows by time.
    const bool is_by_time = compat && side.is_db;
    if (is_by_time) {
      record.at_ns = std::llroundl(static_cast<long double>(EpochUs(record.alloc_ns)) * 1000.0L);
    }
    if (!is_by_time && record.name.find("cann::") != std::string_view::npos) {
      if (!queue) queue.emplace(side);
      const std::optional<int64_t> at_ns = queue->EnqueuedAt(record.alloc_ns);
      if (!at_ns) continue;
      record.at_ns = *at_ns;
      record.keeps_name = true;
    }
    if (record.release_ns != kNone) {
      record.dur_ns = is_by_time ? DoubleDuration(record) : record.release_ns - record.alloc_ns;
    }
    records.push_back(record);
  }
  return records;
}

OpTree BuildOpTree(const Side& side, std::vector<MemoryRecord> memory, bool compat) {
  OpTree tree;
  tree.memory = std::move(memory);
  TreeBuilder(side, tree, compat).Build();
  tree.top = TopNodes(side, tree, compat);
  return tree;
}

std::vector<uint32_t> Subtree(const OpTree& tree, uint32_t node) {
  std::vector<uint32_t> nodes{node};
  for (size_t i = 0; i < nodes.size(); ++i) {
    const std::vector<uint32_t>& children = tree.nodes[nodes[i]].children;
    nodes.insert(nodes.end(), children.begin(), children.end());
  }
  return nodes;
}

}  // namespace steplens::analysis::compare
