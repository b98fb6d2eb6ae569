#pragma once

#include <cstdint>
#include <vector>

#include "analysis/whatif/step_graph.h"

namespace steplens::analysis {

// Collects nodes and edges, and works out how long each edge lasts.
class GraphBuilder {
 public:
  static constexpr int64_t kUsual = -1;  // as such edges usually last

  uint32_t AddPoint(int64_t measured_ns);
  uint32_t AddLane(const GraphLane& lane);
  uint32_t AddNode(const GraphNode& node);
  void AddWindow(const GraphWindow& window, std::vector<uint32_t> finish);

  // `to` comes after `from`; `node` is what waits. How long after follows from when both were
  // measured. `floor_ns` is what the edge lasts where another one holds `to` up. An edge whose ends
  // were measured in the wrong order by more than the tolerance is left out.
  void After(uint32_t from, uint32_t to, EdgeKind kind, uint32_t node, int64_t floor_ns = kUsual,
             int64_t tolerance_ns = 0);
  // An edge of a known length.
  void Fixed(uint32_t from, uint32_t to, EdgeKind kind, uint32_t node, int64_t weight_ns);

  int64_t measured_ns(uint32_t point) const { return out_.measured_ns[point]; }
  const GraphNode& node(uint32_t node) const { return out_.nodes[node]; }
  GraphNode& node(uint32_t node) { return out_.nodes[node]; }

  StepGraph Finish();

 private:
  struct RawEdge {
    uint32_t from = 0;
    uint32_t to = 0;
    uint32_t node = 0;
    EdgeKind kind = EdgeKind::kWork;
    bool is_fixed = false;
    int64_t lag_ns = 0;  // as measured; the length of a fixed edge
    int64_t floor_ns = kUsual;
  };

  void Weigh();
  bool BreakCircles();
  bool MayBeUnexplained(const RawEdge& edge) const;

  StepGraph out_;
  std::vector<RawEdge> edges_;
};

}  // namespace steplens::analysis
