#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/facts/rank_view.h"
#include "analysis/overlap/overlap.h"
#include "analysis/whatif/dependency_graph.h"
#include "store/trace_store.h"

namespace steplens::analysis {

// What a node of the step graph does.
enum class NodeKind : uint8_t {
  kHost,        // a stretch of a host thread inside one operator, call or Python function, or none
  kLaunch,      // the same, inside a call that launches device work
  kHostWait,    // the same, while the thread waits for the device
  kCompute,     // a task on a stream
  kCopy,        // a copy or memset on a stream
  kEventWait,   // a stream waits for another one
  kMark,        // a task that takes no part of the work: event records and the like
  kCollective,  // a rank's part in a communication call
};

// Why one point comes after another.
enum class EdgeKind : uint8_t {
  kWork,      // what a node does itself
  kStart,     // from the begin of the window
  kStream,    // tasks of a stream follow each other
  kLaunch,    // a task starts after the call that launched it
  kSync,      // the host goes on when the task it waits for is done
  kEvent,     // a stream goes on when what another stream marked is done
  kBackward,  // a backward operator needs its forward operator
  kQueue,     // a thread takes what another one put into a queue
  kWake,      // a thread starts when another one gives it something to do
  kJoin,      // a thread goes on when another one is done
  kInferred,  // nothing recorded says so, but a task starts as soon as another one ends
  kRankWait,  // a rank in a collective waits for the others
  kMeeting,   // the last rank that arrives lets the others go on
  kCallIdle,  // a collective neither waits nor transfers
  kTransfer,  // a collective moves data
};

// What time on the critical path is spent with.
enum class PathClass : uint8_t {
  kHost,
  kLaunch,
  kCompute,
  kTransfer,
  kRankWait,
  kCopy,
  kSync,
  kIdle,
};
inline constexpr size_t kPathClasses = 8;
std::string_view PathClassName(PathClass path_class);  // "host", "launch", ...

inline constexpr uint32_t kNoIndex = 0xFFFFFFFF;

// A thread or stream of one rank.
struct GraphLane {
  uint32_t rank_index = 0;
  store::TrackId track = store::kNoTrack;
  bool is_device = false;
};

struct GraphNode {
  NodeKind kind = NodeKind::kHost;
  uint32_t lane = 0;
  uint32_t begin = 0;  // points
  uint32_t end = 0;
  store::SliceId slice = store::kNoSlice;  // host: the innermost one; none between operators
  uint32_t comm_op = kNoIndex;             // row of the rank's comm_ops
};

// Which part of a rank a graph is about.
struct GraphWindow {
  int64_t begin_ns = 0;
  int64_t host_end_ns = 0;
  int64_t end_ns = 0;  // of host and device
  size_t steps = 0;    // marked steps in it; 0 if the capture marks none
};

// The recorded steps of one rank or of several as nodes and what they wait for. Replayed with the
// weights it has, it gives the recorded times back: what held a point up last is `binding`, and its
// edge lasts as long as was measured. The other edges into the point last as long as such an edge
// usually does, and count once an edit makes the binding one shorter.
struct StepGraph {
  std::vector<GraphWindow> windows;  // by rank
  std::vector<GraphLane> lanes;
  std::vector<GraphNode> nodes;  // by lane, then time

  DependencyGraph graph;
  std::vector<int64_t> measured_ns;  // by point, from the begin of the rank's window
  // By edge.
  std::vector<int64_t> weight_ns;
  std::vector<EdgeKind> edge_kind;
  std::vector<uint32_t> edge_node;      // whose work or start it is about
  std::vector<int64_t> unexplained_ns;  // part of the weight that no recorded dependency explains

  std::vector<std::vector<uint32_t>> finish;  // by rank: points, the last of which ends the window
  size_t dropped_edges = 0;                   // contradicted what was measured

  PathClass ClassOf(size_t edge) const;
  // The longest window of the ranks, as measured and by a replay.
  int64_t MeasuredNs() const;
  int64_t FinishNs(const std::vector<int64_t>& at) const;
  int64_t FinishNs(const std::vector<int64_t>& at, size_t rank_index) const;
  size_t steps() const;  // the most of all ranks, at least 1
};

// The window of a rank: one step, or all that were marked, or the whole capture. Nothing if the
// rank does not have the step or recorded nothing.
std::optional<GraphWindow> WindowOf(const RankView& rank, std::optional<int64_t> step);

// The graph of one step, or of all steps of the capture. Ranks meet in the collectives that they
// have in common. `ranks` are those of the job that take part; collectives of ranks that are left
// out are taken as they were recorded. O(n log n).
StepGraph BuildStepGraph(const store::Job& job, std::span<const RankView> ranks,
                         std::optional<int64_t> step);

}  // namespace steplens::analysis
