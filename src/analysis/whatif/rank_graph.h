#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/facts/rank_view.h"
#include "analysis/whatif/device_lanes.h"
#include "analysis/whatif/graph_builder.h"
#include "analysis/whatif/host_lanes.h"

namespace steplens::analysis {

// How a rank's part in a communication call divides, in this order; the sum is its duration.
struct CallDivision {
  int64_t meeting_ns = 0;  // until the last captured rank is there
  int64_t wait_ns = 0;     // for ranks that were not captured
  int64_t idle_ns = 0;
  int64_t transfer_ns = 0;
};

// A collective in the graph: what the meeting of the ranks needs.
struct CallNode {
  uint32_t comm_op = 0;
  uint32_t node = 0;
  uint32_t begin = 0;  // points
  uint32_t ready = 0;
};

// Adds the lanes, nodes and edges of one rank to a graph.
class RankGraph {
 public:
  using DivideCall = std::function<CallDivision(uint32_t comm_op)>;

  RankGraph(GraphBuilder& out, const RankView& rank, uint32_t rank_index,
            const GraphWindow& window);
  void Build(const DivideCall& divide);
  const std::vector<CallNode>& calls() const { return calls_; }

 private:
  // Where a task's launch hangs on the host; kNoIndex where that is not known.
  uint32_t LaunchPoint(const DeviceTask& task) const;

  // rank_graph.cc
  void AddHost();
  void AddDevice(const DivideCall& divide);
  void AddCollective(const DeviceTask& task, uint32_t task_index, const CallDivision& division);

  // device_edges.cc: what the start of each task waits for.
  void LinkTasks();
  void LinkEvents();
  void LinkGpuEvents();
  void LinkByTime();
  // The task elsewhere that ended last by the time; kNoIndex if none ended after `since_ns`.
  uint32_t LastEndedElsewhere(const DeviceTask& task, int64_t since_ns, int64_t until_ns) const;

  // host_edges.cc: what the end of each stretch of a thread waits for.
  void LinkSyncs();
  void LinkSilentWaits();
  void LinkBlockingCopies();
  void LinkBlockedLaunches();
  void LinkQueues();
  void LinkWorkers();
  void LinkJoins();
  void FindPacedGaps();
  void AddHostWork();
  // The end of the segment waits for the end of the task; of its time `own_ns` is the host's.
  void WaitFor(uint32_t lane, uint32_t segment, uint32_t task, int64_t own_ns,
               int64_t tolerance_ns);
  uint32_t LastEnded(int64_t until_ns) const;  // the task that ended last by then, or kNoIndex
  bool IsGap(uint32_t lane, uint32_t segment) const;

  uint32_t SegmentPoint(uint32_t lane, uint32_t segment) const {
    return first_point_[lane] + segment;
  }
  uint32_t SegmentNode(uint32_t lane, uint32_t segment) const {
    return first_node_[lane] + segment;
  }
  int64_t Relative(int64_t ts_ns) const { return ts_ns - window_.begin_ns; }
  std::string_view NameOf(store::SliceId slice) const;

  GraphBuilder& out_;
  const RankView& rank_;
  const store::TraceStore& store_;
  const uint32_t rank_index_;
  const GraphWindow window_;
  const HostLanes host_;
  const std::vector<DeviceTask> tasks_;

  uint32_t root_ = 0;                  // the begin of the window
  std::vector<uint32_t> first_point_;  // by host lane
  std::vector<uint32_t> first_node_;
  std::vector<std::vector<int64_t>> own_ns_;  // by host lane and segment: its own work
  // The same: whether somebody else ends it, or it lasts only because the device had enough to do.
  std::vector<std::vector<bool>> is_wait_;
  std::vector<std::vector<bool>> is_paced_;
  std::vector<uint32_t> task_node_;    // by task
  std::vector<int64_t> ready_ns_;      // by task: the latest that its start waits for
  std::vector<bool> is_launch_bound_;  // by task
  std::vector<uint32_t> by_end_;       // tasks that do something, by end
  std::vector<uint32_t> by_launch_;    // tasks with a known launch, by that
  std::vector<int64_t> last_end_ns_;   // parallel: the last end of those launched so far
  std::vector<CallNode> calls_;
};

}  // namespace steplens::analysis
