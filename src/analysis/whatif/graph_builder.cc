#include "analysis/whatif/graph_builder.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/saturate.h"

namespace steplens::analysis {
namespace {

constexpr size_t kEdgeKinds = static_cast<size_t>(EdgeKind::kTransfer) + 1;
// A device that is free starts what is ready within this time; beyond it something unrecorded
// held the task up.
constexpr int64_t kLeastReactionNs = 20'000;
constexpr int64_t kMostReactionNs = 100'000;

int64_t Quantile(std::vector<int64_t>& values, double share) {
  if (values.empty()) return 0;
  const auto at =
      values.begin() + static_cast<int64_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace

uint32_t GraphBuilder::AddPoint(int64_t measured_ns) {
  out_.measured_ns.push_back(measured_ns);
  return static_cast<uint32_t>(out_.measured_ns.size() - 1);
}

uint32_t GraphBuilder::AddLane(const GraphLane& lane) {
  out_.lanes.push_back(lane);
  return static_cast<uint32_t>(out_.lanes.size() - 1);
}

uint32_t GraphBuilder::AddNode(const GraphNode& node) {
  out_.nodes.push_back(node);
  return static_cast<uint32_t>(out_.nodes.size() - 1);
}

void GraphBuilder::AddWindow(const GraphWindow& window, std::vector<uint32_t> finish) {
  out_.windows.push_back(window);
  out_.finish.push_back(std::move(finish));
}

void GraphBuilder::After(uint32_t from, uint32_t to, EdgeKind kind, uint32_t node, int64_t floor_ns,
                         int64_t tolerance_ns) {
  const int64_t lag_ns = SubtractSaturating(out_.measured_ns[to], out_.measured_ns[from]);
  if (from == to || lag_ns < -tolerance_ns) {
    ++out_.dropped_edges;
    return;
  }
  edges_.push_back({from, to, node, kind, false, lag_ns, floor_ns});
}

void GraphBuilder::Fixed(uint32_t from, uint32_t to, EdgeKind kind, uint32_t node,
                         int64_t weight_ns) {
  edges_.push_back({from, to, node, kind, true, weight_ns, kUsual});
}

// Gaps before device work that no edge into its start explains.
bool GraphBuilder::MayBeUnexplained(const RawEdge& edge) const {
  if (edge.kind != EdgeKind::kStream && edge.kind != EdgeKind::kLaunch) return false;
  return out_.nodes[edge.node].begin == edge.to;
}

void GraphBuilder::Weigh() {
  std::vector<int64_t> binding_ns(out_.measured_ns.size(), std::numeric_limits<int64_t>::max());
  for (const RawEdge& edge : edges_) {
    if (!edge.is_fixed) binding_ns[edge.to] = std::min(binding_ns[edge.to], edge.lag_ns);
  }
  std::array<std::vector<int64_t>, kEdgeKinds> lags_ns;
  for (const RawEdge& edge : edges_) {
    if (!edge.is_fixed && edge.lag_ns == binding_ns[edge.to])
      lags_ns[static_cast<size_t>(edge.kind)].push_back(edge.lag_ns);
  }
  std::array<int64_t, kEdgeKinds> usual_ns{};
  std::array<int64_t, kEdgeKinds> reaction_ns{};
  for (size_t kind = 0; kind < kEdgeKinds; ++kind) {
    reaction_ns[kind] =
        std::clamp(5 * Quantile(lags_ns[kind], 0.5), kLeastReactionNs, kMostReactionNs);
    usual_ns[kind] = std::max<int64_t>(0, Quantile(lags_ns[kind], 0.1));
  }
  for (const RawEdge& edge : edges_) {
    const auto kind = static_cast<size_t>(edge.kind);
    const bool is_binding = !edge.is_fixed && edge.lag_ns == binding_ns[edge.to];
    const int64_t floor_ns = edge.floor_ns == kUsual ? usual_ns[kind] : edge.floor_ns;
    const int64_t weight_ns =
        edge.is_fixed || is_binding ? edge.lag_ns : std::min(edge.lag_ns, floor_ns);
    const bool is_unexplained =
        is_binding && MayBeUnexplained(edge) && weight_ns > reaction_ns[kind];
    out_.weight_ns.push_back(weight_ns);
    out_.unexplained_ns.push_back(is_unexplained ? weight_ns - reaction_ns[kind] : 0);
    out_.edge_kind.push_back(edge.kind);
    out_.edge_node.push_back(edge.node);
  }
}

// Clocks of host and device agree to a microsecond only, so that edges may run in a circle. Those
// that lead backwards in time, or take none, are left out there. False if there was nothing to do.
bool GraphBuilder::BreakCircles() {
  if (out_.graph.is_acyclic()) return false;
  const std::vector<bool> reached = out_.graph.Reached();
  const size_t before = edges_.size();
  std::erase_if(edges_, [&](const RawEdge& edge) {
    if (reached[edge.to] || edge.kind == EdgeKind::kWork || edge.kind == EdgeKind::kStream)
      return false;
    return edge.lag_ns <= 0 || edge.kind == EdgeKind::kMeeting;
  });
  out_.dropped_edges += before - edges_.size();
  return edges_.size() < before;
}

StepGraph GraphBuilder::Finish() {
  do {
    std::vector<uint32_t> from;
    std::vector<uint32_t> to;
    from.reserve(edges_.size());
    to.reserve(edges_.size());
    for (const RawEdge& edge : edges_) {
      from.push_back(edge.from);
      to.push_back(edge.to);
    }
    out_.graph = DependencyGraph(out_.measured_ns.size(), std::move(from), std::move(to));
  } while (BreakCircles());
  Weigh();
  return std::move(out_);
}

}  // namespace steplens::analysis
