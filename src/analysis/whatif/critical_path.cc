#include "analysis/whatif/critical_path.h"

#include <algorithm>

#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

uint32_t LastPoint(const StepGraph& graph, const std::vector<int64_t>& at) {
  uint32_t last = kNoIndex;
  for (const std::vector<uint32_t>& points : graph.finish) {
    for (const uint32_t point : points) {
      if (last == kNoIndex || at[point] > at[last]) last = point;
    }
  }
  return last;
}

// The edge that a point waited for; kNoIndex at the begin.
uint32_t HeldUpBy(const StepGraph& graph, std::span<const int64_t> weights,
                  const std::vector<int64_t>& at, uint32_t point) {
  for (const uint32_t edge : graph.graph.into(point)) {
    if (weights[edge] == DependencyGraph::kDropped) continue;
    if (AddNs(at[graph.graph.from(edge)], weights[edge]) == at[point]) return edge;
  }
  return kNoIndex;
}

}  // namespace

CriticalPath FindCriticalPath(const StepGraph& graph, std::span<const int64_t> weights,
                              const std::vector<int64_t>& at) {
  CriticalPath out;
  out.graph = &graph;
  uint32_t point = LastPoint(graph, at);
  while (point != kNoIndex) {
    const uint32_t edge = HeldUpBy(graph, weights, at, point);
    if (edge == kNoIndex) break;
    out.edges.push_back(edge);
    point = graph.graph.from(edge);
  }
  std::reverse(out.edges.begin(), out.edges.end());
  for (const uint32_t edge : out.edges) {
    // Between ranks clocks differ; no time passes.
    if (graph.edge_kind[edge] == EdgeKind::kMeeting) continue;
    const int64_t begin_ns = at[graph.graph.from(edge)];
    const int64_t idle_ns = std::min(graph.unexplained_ns[edge], weights[edge]);
    const auto add = [&](PathClass path_class, int64_t from_ns, int64_t dur_ns) {
      if (dur_ns <= 0) return;
      out.pieces.push_back({path_class, graph.edge_node[edge], from_ns, dur_ns});
      out.class_ns[static_cast<size_t>(path_class)] += dur_ns;
      out.total_ns += dur_ns;
    };
    const int64_t own_ns = weights[edge] - std::max<int64_t>(idle_ns, 0);
    add(graph.ClassOf(edge), begin_ns, own_ns);
    add(PathClass::kIdle, begin_ns + own_ns, idle_ns);
  }
  return out;
}

std::vector<PathChain> CriticalPath::chains() const {
  std::vector<PathChain> out;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const uint32_t lane = graph->nodes[pieces[i].node].lane;
    if (out.empty() || out.back().lane != lane) out.push_back({lane, pieces[i].begin_ns, 0, i, i});
    out.back().dur_ns += pieces[i].dur_ns;
    out.back().last = i;
  }
  return out;
}

std::vector<int64_t> SlackOf(const StepGraph& graph, std::span<const int64_t> weights,
                             const std::vector<int64_t>& at) {
  const int64_t finish_ns = graph.FinishNs(at);
  std::vector<int64_t> limits(graph.graph.points(), DependencyGraph::kNoLimit);
  for (const std::vector<uint32_t>& points : graph.finish) {
    for (const uint32_t point : points) limits[point] = finish_ns;
  }
  const std::vector<int64_t> latest = graph.graph.Latest(weights, std::move(limits));
  std::vector<int64_t> out;
  out.reserve(graph.nodes.size());
  for (const GraphNode& node : graph.nodes) {
    const int64_t limit_ns = std::min(latest[node.end], finish_ns);
    out.push_back(std::max<int64_t>(0, limit_ns - at[node.end]));
  }
  return out;
}

}  // namespace steplens::analysis
