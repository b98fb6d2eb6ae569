#include "analysis/whatif/rank_graph.h"

#include <algorithm>

#include "analysis/classify/text_memo.h"
#include "analysis/classify/wait_kind.h"
#include "analysis/time_math.h"

namespace steplens::analysis {

using store::kNoSlice;

RankGraph::RankGraph(GraphBuilder& out, const RankView& rank, uint32_t rank_index,
                     const GraphWindow& window)
    : out_(out),
      rank_(rank),
      store_(rank.store()),
      rank_index_(rank_index),
      window_(window),
      host_(rank, {window.begin_ns, window.host_end_ns}),
      tasks_(CollectDeviceTasks(rank, window)),
      ready_ns_(tasks_.size(), 0),
      is_launch_bound_(tasks_.size(), false) {}

std::string_view RankGraph::NameOf(store::SliceId slice) const {
  return slice == kNoSlice ? std::string_view()
                           : store_.Text(store_.slices.name[static_cast<size_t>(slice)]);
}

void RankGraph::Build(const DivideCall& divide) {
  root_ = out_.AddPoint(0);
  AddHost();
  AddDevice(divide);
  LinkTasks();
  LinkEvents();
  LinkGpuEvents();
  LinkByTime();
  LinkSyncs();
  LinkBlockingCopies();
  LinkBlockedLaunches();
  LinkSilentWaits();
  LinkQueues();
  LinkJoins();
  LinkWorkers();
  FindPacedGaps();
  AddHostWork();
  std::vector<uint32_t> finish;
  if (host_.main() != kNoIndex) {
    const auto& segments = host_.lanes()[host_.main()].segments;
    finish.push_back(SegmentPoint(host_.main(), static_cast<uint32_t>(segments.size())));
  }
  for (const uint32_t node : task_node_) finish.push_back(out_.node(node).end);
  out_.AddWindow(window_, std::move(finish));
}

// Segments of a thread share points: the end of one is the begin of the next.
void RankGraph::AddHost() {
  TextMemo is_wait(store_, [](std::string_view name) {
    return WaitKindOf(name, TrackKind::kHost) == WaitKind::kHost;
  });
  std::vector<bool> is_launch(store_.slices.size(), false);
  for (const DeviceTask& task : tasks_) {
    if (task.call != kNoSlice) is_launch[static_cast<size_t>(task.call)] = true;
  }
  for (const HostLane& lane : host_.lanes()) {
    const uint32_t lane_index =
        out_.AddLane({.rank_index = rank_index_, .track = lane.track, .is_device = false});
    std::vector<int64_t>& own_ns = own_ns_.emplace_back();
    first_point_.push_back(out_.AddPoint(Relative(lane.segments.front().begin_ns)));
    for (size_t i = 0; i < lane.segments.size(); ++i) {
      const HostSegment& segment = lane.segments[i];
      const uint32_t end = out_.AddPoint(Relative(segment.end_ns));
      GraphNode node{.lane = lane_index, .begin = end - 1, .end = end, .slice = segment.owner};
      if (segment.owner != kNoSlice) {
        const auto owner = static_cast<size_t>(segment.owner);
        if (is_wait(store_.slices.name[owner])) node.kind = NodeKind::kHostWait;
        if (is_launch[owner]) node.kind = NodeKind::kLaunch;
      }
      const uint32_t index = out_.AddNode(node);
      if (i == 0) first_node_.push_back(index);
      own_ns.push_back(segment.end_ns - segment.begin_ns);
    }
    is_wait_.emplace_back(lane.segments.size(), false);
    is_paced_.emplace_back(lane.segments.size(), false);
  }
}

void RankGraph::AddCollective(const DeviceTask& task, uint32_t task_index,
                              const CallDivision& division) {
  GraphNode& node = out_.node(task_node_[task_index]);
  int64_t at_ns = Relative(task.begin_ns);
  const uint32_t index = task_node_[task_index];
  const auto next = [&](EdgeKind kind, uint32_t from, int64_t ns, int64_t weight_ns) {
    at_ns += ns;
    const uint32_t point = out_.AddPoint(at_ns);
    out_.Fixed(from, point, kind, index, weight_ns);
    return point;
  };
  // Whoever arrived later holds the call up; what that costs, the edges from the others say.
  const uint32_t ready = next(EdgeKind::kRankWait, node.begin, division.meeting_ns, 0);
  const uint32_t waited = next(EdgeKind::kRankWait, ready, division.wait_ns, division.wait_ns);
  const uint32_t idled = next(EdgeKind::kCallIdle, waited, division.idle_ns, division.idle_ns);
  node.end = next(EdgeKind::kTransfer, idled, division.transfer_ns, division.transfer_ns);
  calls_.push_back({.comm_op = task.comm_op, .node = index, .begin = node.begin, .ready = ready});
}

void RankGraph::AddDevice(const DivideCall& divide) {
  uint32_t lane = kNoIndex;
  for (uint32_t i = 0; i < tasks_.size(); ++i) {
    const DeviceTask& task = tasks_[i];
    if (i == 0 || tasks_[i - 1].track != task.track)
      lane = out_.AddLane({.rank_index = rank_index_, .track = task.track, .is_device = true});
    const uint32_t begin = out_.AddPoint(Relative(task.begin_ns));
    task_node_.push_back(out_.AddNode({.kind = task.kind,
                                       .lane = lane,
                                       .begin = begin,
                                       .end = begin,
                                       .slice = task.slice,
                                       .comm_op = task.comm_op}));
    if (task.kind == NodeKind::kCollective) {
      CallDivision division = divide(task.comm_op);
      // A call that began before the window counts with what is left of it.
      int64_t missing_ns = division.meeting_ns + division.wait_ns + division.idle_ns +
                           division.transfer_ns - (task.end_ns - task.begin_ns);
      for (int64_t* part :
           {&division.meeting_ns, &division.wait_ns, &division.idle_ns, &division.transfer_ns}) {
        const int64_t cut_ns = std::min(std::max<int64_t>(missing_ns, 0), *part);
        *part -= cut_ns;
        missing_ns -= cut_ns;
      }
      if (missing_ns < 0) division.transfer_ns -= missing_ns;
      AddCollective(task, i, division);
    } else {
      const uint32_t end = out_.AddPoint(Relative(task.end_ns));
      out_.node(task_node_.back()).end = end;
      // A stream that waits for another one does nothing itself.
      const int64_t own_ns = task.kind == NodeKind::kEventWait ? 0 : task.end_ns - task.begin_ns;
      out_.After(begin, end, EdgeKind::kWork, task_node_.back(), own_ns);
    }
    if (task.kind != NodeKind::kMark && task.kind != NodeKind::kEventWait) by_end_.push_back(i);
    by_launch_.push_back(i);
  }
  std::stable_sort(by_end_.begin(), by_end_.end(),
                   [&](uint32_t a, uint32_t b) { return tasks_[a].end_ns < tasks_[b].end_ns; });
  // Work whose launch is not known was launched by the time it began.
  const auto launch_ns = [&](uint32_t task) {
    return tasks_[task].host_ns == store::kNone ? tasks_[task].begin_ns : tasks_[task].host_ns;
  };
  std::erase_if(by_launch_, [&](uint32_t task) {
    return tasks_[task].kind == NodeKind::kMark || tasks_[task].kind == NodeKind::kEventWait;
  });
  std::stable_sort(by_launch_.begin(), by_launch_.end(),
                   [&](uint32_t a, uint32_t b) { return launch_ns(a) < launch_ns(b); });
  for (const uint32_t task : by_launch_) {
    const int64_t before_ns = last_end_ns_.empty() ? INT64_MIN : last_end_ns_.back();
    last_end_ns_.push_back(std::max(before_ns, tasks_[task].end_ns));
  }
}

uint32_t RankGraph::LaunchPoint(const DeviceTask& task) const {
  if (task.host_ns == store::kNone || task.host_ns < window_.begin_ns) return kNoIndex;
  const uint32_t lane = host_.LaneOf(task.host_track);
  if (lane == kNoIndex) return kNoIndex;
  if (task.call != kNoSlice) {
    const HostLanes::Range range = host_.SegmentsOf(task.call);
    if (range.first != kNoIndex) {
      const uint32_t end = SegmentPoint(lane, range.last + 1);
      // The task may start while the call still runs.
      return out_.measured_ns(end) <= Relative(task.begin_ns) ? end
                                                              : SegmentPoint(lane, range.first);
    }
  }
  return SegmentPoint(lane, host_.SegmentAt(lane, task.host_ns));
}

}  // namespace steplens::analysis
