#include "analysis/whatif/edit_applier.h"
#include "base/name_pattern.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

using Part = EditSelector::Part;

int64_t ScaledNs(int64_t ns, double factor) {
  return std::llround(static_cast<double>(ns) * factor);
}

bool IsHostNode(const GraphNode& node) {
  return node.kind == NodeKind::kHost || node.kind == NodeKind::kLaunch ||
         node.kind == NodeKind::kHostWait;
}

// Which edges of a matching node a part of the step is made of.
bool BelongsTo(Part part, EdgeKind edge, NodeKind node) {
  switch (part) {
    case Part::kKernel:
      return edge == EdgeKind::kWork && node == NodeKind::kCompute;
    case Part::kCopy:
      return edge == EdgeKind::kWork && node == NodeKind::kCopy;
    case Part::kComm:
      return edge == EdgeKind::kTransfer;
    case Part::kHost:
      return edge == EdgeKind::kWork && (node == NodeKind::kHost || node == NodeKind::kLaunch);
    case Part::kLaunch:
      return edge == EdgeKind::kLaunch || (edge == EdgeKind::kWork && node == NodeKind::kLaunch);
    case Part::kSync:
      return edge == EdgeKind::kSync || (edge == EdgeKind::kWork && node == NodeKind::kHostWait);
    case Part::kWait:
      return edge == EdgeKind::kRankWait || edge == EdgeKind::kMeeting;
    case Part::kIdle:
      return edge == EdgeKind::kCallIdle;
  }
  return false;
}

// An edge that only makes others wait: without its cause nobody does.
bool IsDependency(EdgeKind edge) { return edge == EdgeKind::kSync || edge == EdgeKind::kMeeting; }

}  // namespace

EditApplier::EditApplier(const StepGraph& graph, std::span<const RankView> ranks)
    : graph_(graph), ranks_(ranks) {}

// Inside an operator of that name, or inside what it calls.
bool EditApplier::HostMatches(const EditSelector& selector, const GraphNode& node,
                              uint32_t rank_index, std::vector<int8_t>& known) const {
  const RankView& rank = ranks_[rank_index];
  const store::TraceStore& store = rank.store();
  if (node.slice == store::kNoSlice) return selector.pattern == "*";
  const Nesting& nesting = rank.nesting();
  std::vector<size_t> asked;
  bool is_match = false;
  for (store::SliceId at = node.slice; at != store::kNoSlice;) {
    const auto slice = static_cast<size_t>(at);
    if (known[slice] >= 0) {
      is_match = known[slice] == 1;
      break;
    }
    asked.push_back(slice);
    is_match = FitsPattern(store.Text(store.slices.name[slice]), selector.pattern);
    if (is_match) break;
    at = nesting.parent[slice];
  }
  for (const size_t slice : asked) known[slice] = is_match ? 1 : 0;
  return is_match;
}

// Named by itself, inside of a named one, or in the middle of a named stretch of the host.
bool EditApplier::MatchesExactly(const EditSelector& selector, const GraphNode& node,
                                 uint32_t rank_index) const {
  if (node.comm_op != kNoIndex &&
      std::binary_search(selector.comm_ops.begin(), selector.comm_ops.end(), node.comm_op)) {
    return true;
  }
  const Nesting* nesting = IsHostNode(node) ? &ranks_[rank_index].nesting() : nullptr;
  for (store::SliceId at = node.slice; at != store::kNoSlice && !selector.slices.empty();) {
    if (std::binary_search(selector.slices.begin(), selector.slices.end(), at)) return true;
    if (nesting == nullptr) break;
    at = nesting->parent[static_cast<size_t>(at)];
  }
  if (nesting == nullptr || selector.ranges.empty()) return false;
  const int64_t middle_ns =
      AddNs(graph_.windows[rank_index].begin_ns,
            graph_.measured_ns[node.begin] +
                (graph_.measured_ns[node.end] - graph_.measured_ns[node.begin]) / 2);
  const auto next =
      std::partition_point(selector.ranges.begin(), selector.ranges.end(),
                           [&](const Interval& range) { return range.end_ns <= middle_ns; });
  return next != selector.ranges.end() && next->begin_ns <= middle_ns;
}

bool EditApplier::Matches(const EditSelector& selector, const GraphNode& node,
                          std::vector<int8_t>& known, uint32_t rank_index) const {
  if (selector.IsExact()) return MatchesExactly(selector, node, rank_index);
  if (selector.pattern == "*") return true;
  const store::TraceStore& store = ranks_[rank_index].store();
  if (IsHostNode(node)) return HostMatches(selector, node, rank_index, known);
  if (node.comm_op != kNoIndex) {
    return FitsPattern(store.Text(store.comm_ops.name[node.comm_op]), selector.pattern) ||
           FitsPattern(store.Text(store.comm_ops.op_type[node.comm_op]), selector.pattern);
  }
  if (node.slice == store::kNoSlice) return false;
  const auto slice = static_cast<size_t>(node.slice);
  if (known[slice] < 0) {
    bool is_match = FitsPattern(store.Text(store.slices.name[slice]), selector.pattern);
    if (const uint32_t kernel = ranks_[rank_index].kernel_slices().KernelOf(node.slice);
        !is_match && kernel != store::kNoId) {
      is_match = FitsPattern(store.Text(store.kernels.type[kernel]), selector.pattern);
    }
    known[slice] = is_match ? 1 : 0;
  }
  return known[slice] == 1;
}

size_t EditApplier::Scale(const Edit& edit, std::vector<int64_t>& weights) const {
  std::vector<std::vector<int8_t>> known(ranks_.size());
  for (size_t r = 0; r < ranks_.size(); ++r)
    known[r].assign(ranks_[r].store().slices.size(), int8_t{-1});
  const bool is_removed = edit.action == Edit::Action::kRemove;
  size_t changed = 0;
  for (size_t e = 0; e < weights.size(); ++e) {
    const GraphNode& node = graph_.nodes[graph_.edge_node[e]];
    const uint32_t rank = graph_.lanes[node.lane].rank_index;
    if (edit.selector.rank && ranks_[rank].rank() != *edit.selector.rank) continue;
    const EdgeKind kind = graph_.edge_kind[e];
    bool belongs = BelongsTo(edit.selector.part, kind, node.kind);
    // What is gone is not waited for either.
    if (is_removed && edit.selector.part == Part::kComm) {
      belongs |=
          kind == EdgeKind::kRankWait || kind == EdgeKind::kCallIdle || kind == EdgeKind::kMeeting;
    }
    const bool is_gap = edit.selector.part == Part::kIdle && graph_.unexplained_ns[e] > 0;
    if ((!belongs && !is_gap) || weights[e] == DependencyGraph::kDropped) continue;
    if (!Matches(edit.selector, node, known[rank], rank)) continue;
    ++changed;
    if (is_gap) {
      weights[e] -= ScaledNs(graph_.unexplained_ns[e], 1 - edit.factor);
    } else if (is_removed && IsDependency(kind)) {
      weights[e] = DependencyGraph::kDropped;
    } else if (kind != EdgeKind::kMeeting) {
      weights[e] = ScaledNs(weights[e], edit.factor);
    }
  }
  return changed;
}

// Computing goes on while it runs; what it needs itself, and the end of the step, stay.
size_t EditApplier::Overlap(const Edit& edit, std::vector<int64_t>& weights) const {
  std::vector<std::vector<int8_t>> known(ranks_.size());
  for (size_t r = 0; r < ranks_.size(); ++r)
    known[r].assign(ranks_[r].store().slices.size(), int8_t{-1});
  const NodeKind wanted =
      edit.selector.part == Part::kComm ? NodeKind::kCollective : NodeKind::kCopy;
  std::vector<uint32_t> ends(graph_.graph.points(), kNoIndex);
  for (uint32_t n = 0; n < graph_.nodes.size(); ++n) {
    const GraphNode& node = graph_.nodes[n];
    const uint32_t rank = graph_.lanes[node.lane].rank_index;
    if (node.kind != wanted) continue;
    if (edit.selector.rank && ranks_[rank].rank() != *edit.selector.rank) continue;
    if (Matches(edit.selector, node, known[rank], rank)) ends[node.end] = n;
  }
  size_t changed = 0;
  for (size_t e = 0; e < weights.size(); ++e) {
    if (ends[graph_.graph.from(e)] == kNoIndex) continue;
    const EdgeKind kind = graph_.edge_kind[e];
    const NodeKind after = graph_.nodes[graph_.edge_node[e]].kind;
    if (after == wanted ||
        (kind != EdgeKind::kEvent && kind != EdgeKind::kInferred && kind != EdgeKind::kStream)) {
      continue;
    }
    weights[e] = DependencyGraph::kDropped;
    ++changed;
  }
  return changed;
}

// A single rank cannot be compared; balanced, nobody waits for it.
size_t EditApplier::Balance(std::vector<int64_t>& weights) const {
  if (ranks_.size() < 2) {
    Edit waits{.action = Edit::Action::kRemove, .factor = 0};
    waits.selector.part = Part::kWait;
    return Scale(waits, weights);
  }
  size_t changed = 0;
  for (const bool is_host : {false, true}) {
    const auto counts = [&](size_t e) {
      if (graph_.edge_kind[e] != EdgeKind::kWork || weights[e] == DependencyGraph::kDropped)
        return false;
      const NodeKind kind = graph_.nodes[graph_.edge_node[e]].kind;
      return is_host ? kind == NodeKind::kHost || kind == NodeKind::kLaunch
                     : kind == NodeKind::kCompute;
    };
    std::vector<double> sums(ranks_.size(), 0);
    double mean = 0;
    const auto rank_of = [&](size_t e) {
      return graph_.lanes[graph_.nodes[graph_.edge_node[e]].lane].rank_index;
    };
    for (size_t e = 0; e < weights.size(); ++e) {
      if (counts(e)) sums[rank_of(e)] += static_cast<double>(weights[e]);
    }
    for (const double sum : sums) mean += sum / static_cast<double>(sums.size());
    for (size_t e = 0; e < weights.size(); ++e) {
      if (!counts(e) || sums[rank_of(e)] <= 0) continue;
      weights[e] = ScaledNs(weights[e], mean / sums[rank_of(e)]);
      ++changed;
    }
  }
  return changed;
}

// Kernels and stretches of the host by name: on the late ranks they take in sum what they usually
// take on ranks that run the same kernels; what only the late ranks do is gone.
size_t EditApplier::BalanceRanks(std::span<const int64_t> late,
                                 std::vector<int64_t>& weights) const {
  using Sums = std::map<std::pair<bool, std::string_view>, double>;  // of a host, and the name
  const auto key_of = [&](const GraphNode& node, uint32_t rank) {
    const store::TraceStore& store = ranks_[rank].store();
    const bool is_host = node.kind != NodeKind::kCompute;
    if (node.slice == store::kNoSlice) return std::pair(is_host, std::string_view());
    return std::pair(is_host, store.Text(store.slices.name[static_cast<size_t>(node.slice)]));
  };
  const auto counts = [&](size_t e) {
    const NodeKind kind = graph_.nodes[graph_.edge_node[e]].kind;
    return graph_.edge_kind[e] == EdgeKind::kWork && weights[e] != DependencyGraph::kDropped &&
           (kind == NodeKind::kCompute || kind == NodeKind::kHost || kind == NodeKind::kLaunch);
  };
  std::vector<Sums> sums(ranks_.size());
  for (size_t e = 0; e < weights.size(); ++e) {
    if (!counts(e)) continue;
    const GraphNode& node = graph_.nodes[graph_.edge_node[e]];
    const uint32_t rank = graph_.lanes[node.lane].rank_index;
    sums[rank][key_of(node, rank)] += static_cast<double>(weights[e]);
  }
  const auto is_late = [&](size_t r) {
    return std::find(late.begin(), late.end(), ranks_[r].rank()) != late.end();
  };
  // How much of the kernel time of a rank is of kernels that another one runs, too.
  constexpr double kAlike = 0.9;
  const auto is_alike = [&](size_t own, size_t other) {
    double all = 0;
    double shared = 0;
    for (const auto& [key, sum] : sums[own]) {
      if (key.first) continue;
      all += sum;
      if (sums[other].contains(key)) shared += sum;
    }
    return all > 0 && shared >= kAlike * all;
  };
  std::vector<Sums> factors(ranks_.size());
  for (size_t r = 0; r < ranks_.size(); ++r) {
    if (!is_late(r)) continue;
    std::vector<size_t> peers;
    for (size_t other = 0; other < ranks_.size(); ++other) {
      if (!is_late(other) && is_alike(r, other)) peers.push_back(other);
    }
    if (peers.empty()) continue;
    for (const auto& [key, sum] : sums[r]) {
      std::vector<double> theirs;
      for (const size_t peer : peers) {
        const auto found = sums[peer].find(key);
        theirs.push_back(found == sums[peer].end() ? 0 : found->second);
      }
      std::sort(theirs.begin(), theirs.end());
      const double usual = (theirs[(theirs.size() - 1) / 2] + theirs[theirs.size() / 2]) / 2;
      if (sum > 0) factors[r][key] = usual / sum;
    }
  }
  size_t changed = 0;
  for (size_t e = 0; e < weights.size(); ++e) {
    if (!counts(e)) continue;
    const GraphNode& node = graph_.nodes[graph_.edge_node[e]];
    const uint32_t rank = graph_.lanes[node.lane].rank_index;
    const auto found = factors[rank].find(key_of(node, rank));
    if (found == factors[rank].end()) continue;
    weights[e] = ScaledNs(weights[e], found->second);
    ++changed;
  }
  return changed;
}

size_t EditApplier::Apply(const Edit& edit, std::vector<int64_t>& weights) const {
  if (edit.action == Edit::Action::kBalance)
    return edit.ranks.empty() ? Balance(weights) : BalanceRanks(edit.ranks, weights);
  if (edit.action == Edit::Action::kOverlap) return Overlap(edit, weights);
  return Scale(edit, weights);
}

}  // namespace steplens::analysis
