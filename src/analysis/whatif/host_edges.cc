#include <algorithm>
#include <string_view>

#include "analysis/classify/text_memo.h"
#include "analysis/whatif/rank_graph.h"
#include "base/saturate.h"

// What the end of a stretch of a host thread waits for.

namespace steplens::analysis {
namespace {

using store::kNoSlice;

constexpr int64_t kCallNs = 2000;         // what a call costs that finds nothing to wait for
constexpr int64_t kHostClockNs = 1000;    // clocks are compared to a microsecond
constexpr int64_t kLongNs = 100'000;      // shorter stretches are not searched for silent waits
constexpr int64_t kReturnNs = 30'000;     // a silent wait ends so soon after the task
constexpr int64_t kAheadNs = 50'000;      // or, where a step ends, so long before
constexpr int64_t kWorkerGapNs = 20'000;  // a thread without work for longer waits for some
constexpr int64_t kQueuedNs = 200'000;    // work that waits so long on the device fills a queue

int64_t MiddleNs(std::vector<int64_t> values, double share = 0.5) {
  if (values.empty()) return 0;
  const auto at =
      values.begin() + static_cast<int64_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace

uint32_t RankGraph::LastEnded(int64_t until_ns) const {
  const auto after =
      std::upper_bound(by_end_.begin(), by_end_.end(), until_ns,
                       [&](int64_t ts_ns, uint32_t i) { return ts_ns < tasks_[i].end_ns; });
  return after == by_end_.begin() ? kNoIndex : *(after - 1);
}

void RankGraph::WaitFor(uint32_t lane, uint32_t segment, uint32_t task, int64_t own_ns,
                        int64_t tolerance_ns) {
  out_.After(out_.node(task_node_[task]).end, SegmentPoint(lane, segment + 1), EdgeKind::kSync,
             SegmentNode(lane, segment), GraphBuilder::kUsual, tolerance_ns);
  own_ns_[lane][segment] = std::min(own_ns_[lane][segment], own_ns);
  is_wait_[lane][segment] = true;
}

// A synchronising call ends with the work that ended last inside it. One that found nothing to wait
// for would have waited for what was launched last. One that waits for the device waits for all of
// its streams.
void RankGraph::LinkSyncs() {
  TextMemo is_for_all(store_, [](std::string_view name) {
    return name.find("Device") != std::string_view::npos ||
           name.find("Context") != std::string_view::npos;
  });
  std::vector<std::pair<uint32_t, uint32_t>> streams;  // first task and one behind the last
  for (uint32_t t = 0; t < tasks_.size(); ++t) {
    if (t == 0 || tasks_[t].track != tasks_[t - 1].track) streams.emplace_back(t, t);
    streams.back().second = t + 1;
  }
  const auto wait_for_all = [&](uint32_t l, uint32_t i, int64_t end_ns) {
    for (const auto& [first, behind] : streams) {
      const auto after = std::upper_bound(
          tasks_.begin() + first, tasks_.begin() + behind, end_ns,
          [](int64_t ts_ns, const DeviceTask& task) { return ts_ns < task.begin_ns; });
      if (after == tasks_.begin() + first) continue;
      const auto last = static_cast<size_t>(after - tasks_.begin()) - 1;
      out_.After(out_.node(task_node_[last]).end, SegmentPoint(l, i + 1), EdgeKind::kSync,
                 SegmentNode(l, i), GraphBuilder::kUsual, kHostClockNs);
    }
  };
  for (uint32_t l = 0; l < host_.lanes().size(); ++l) {
    const std::vector<HostSegment>& segments = host_.lanes()[l].segments;
    for (uint32_t i = 0; i < segments.size(); ++i) {
      if (out_.node(SegmentNode(l, i)).kind != NodeKind::kHostWait) continue;
      const auto owner = static_cast<size_t>(segments[i].owner);
      if (is_for_all(store_.slices.name[owner])) wait_for_all(l, i, segments[i].end_ns);
      const uint32_t cause = LastEnded(segments[i].end_ns + kHostClockNs);
      if (cause != kNoIndex && tasks_[cause].end_ns > segments[i].begin_ns) {
        WaitFor(l, i, cause, kCallNs, kHostClockNs);
        continue;
      }
      const auto after = std::lower_bound(
          by_launch_.begin(), by_launch_.end(), segments[i].begin_ns,
          [&](uint32_t task, int64_t ts_ns) {
            const DeviceTask& one = tasks_[task];
            return (one.host_ns == store::kNone ? one.begin_ns : one.host_ns) < ts_ns;
          });
      if (after == by_launch_.begin()) continue;
      out_.After(out_.node(task_node_[*(after - 1)]).end, SegmentPoint(l, i + 1), EdgeKind::kSync,
                 SegmentNode(l, i));
    }
  }
}

// Where nothing says that a thread waits: a long stretch that ends just when all that was launched
// before it is done.
void RankGraph::LinkSilentWaits() {
  TextMemo is_step(store_, [](std::string_view name) { return name.starts_with("ProfilerStep#"); });
  for (uint32_t l = 0; l < host_.lanes().size(); ++l) {
    const std::vector<HostSegment>& segments = host_.lanes()[l].segments;
    for (uint32_t i = 0; i < segments.size(); ++i) {
      const HostSegment& segment = segments[i];
      if (is_wait_[l][i] || segment.end_ns - segment.begin_ns < kLongNs) continue;
      if (out_.node(SegmentNode(l, i)).kind == NodeKind::kHostWait) continue;
      const auto after = std::lower_bound(
          by_launch_.begin(), by_launch_.end(), segment.begin_ns,
          [&](uint32_t task, int64_t ts_ns) {
            const DeviceTask& one = tasks_[task];
            return (one.host_ns == store::kNone ? one.begin_ns : one.host_ns) < ts_ns;
          });
      if (after == by_launch_.begin()) continue;
      const int64_t done_ns = last_end_ns_[static_cast<size_t>(after - by_launch_.begin()) - 1];
      const bool ends_step = segment.owner != kNoSlice &&
                             is_step(store_.slices.name[static_cast<size_t>(segment.owner)]) &&
                             host_.SegmentsOf(segment.owner).last == i;
      const int64_t ahead_ns = ends_step ? kAheadNs : kHostClockNs;
      if (done_ns <= segment.begin_ns || done_ns < segment.end_ns - kReturnNs ||
          done_ns > segment.end_ns + ahead_ns) {
        continue;
      }
      const uint32_t cause = LastEnded(done_ns);
      if (cause != kNoIndex && tasks_[cause].end_ns == done_ns) WaitFor(l, i, cause, 0, ahead_ns);
    }
  }
}

// A copy from or to memory that the device cannot reach by itself is over when its call returns.
void RankGraph::LinkBlockingCopies() {
  for (uint32_t t = 0; t < tasks_.size(); ++t) {
    const DeviceTask& task = tasks_[t];
    if (task.kind != NodeKind::kCopy || task.call == kNoSlice) continue;
    const uint32_t lane = host_.LaneOf(task.host_track);
    const HostLanes::Range range = host_.SegmentsOf(task.call);
    if (lane == kNoIndex || range.first == kNoIndex || range.last < range.first) continue;
    if (range.last >= host_.lanes()[lane].segments.size()) continue;
    const HostSegment& segment = host_.lanes()[lane].segments[range.last];
    if (task.begin_ns < segment.begin_ns || task.end_ns > segment.end_ns) continue;
    if (segment.end_ns - segment.begin_ns < kWorkerGapNs) continue;
    WaitFor(lane, range.last, t, kCallNs, 0);
  }
}

// A launch that takes far longer than others while the device has much to do waits for room in the
// queue.
void RankGraph::LinkBlockedLaunches() {
  std::vector<int64_t> lengths_ns;
  for (const DeviceTask& task : tasks_) {
    if (task.call != kNoSlice)
      lengths_ns.push_back(store_.slices.dur_ns[static_cast<size_t>(task.call)]);
  }
  const int64_t usual_ns = MiddleNs(std::move(lengths_ns));
  for (const DeviceTask& task : tasks_) {
    if (task.call == kNoSlice) continue;
    const uint32_t lane = host_.LaneOf(task.host_track);
    const HostLanes::Range range = host_.SegmentsOf(task.call);
    if (lane == kNoIndex || range.first == kNoIndex || range.last < range.first) continue;
    if (range.last >= host_.lanes()[lane].segments.size()) continue;
    const HostSegment& segment = host_.lanes()[lane].segments[range.last];
    if (is_wait_[lane][range.last]) continue;
    if (segment.end_ns - segment.begin_ns < std::max(kLongNs, 20 * usual_ns)) continue;
    if (task.begin_ns - segment.end_ns < kQueuedNs) continue;
    const uint32_t cause = LastEnded(segment.end_ns + kHostClockNs);
    if (cause == kNoIndex || tasks_[cause].end_ns < segment.end_ns - kReturnNs) continue;
    WaitFor(lane, range.last, cause, usual_ns, kHostClockNs);
  }
}

bool RankGraph::IsGap(uint32_t lane, uint32_t segment) const {
  return host_.lanes()[lane].segments[segment].owner == kNoSlice;
}

// What a thread takes out of a queue was put there by another one; what runs backward needs what
// ran forward.
void RankGraph::LinkQueues() {
  const auto queue = store_.strings.Find("async_task_queue");
  const auto backward = store_.strings.Find("fwdbwd");
  if (!queue && !backward) return;
  for (size_t i = 0; i < store_.flows.size(); ++i) {
    const StringId kind = store_.flows.kind[i];
    const bool is_queue = queue && kind == *queue;
    if (!is_queue && !(backward && kind == *backward)) continue;
    const uint32_t from_lane = host_.LaneOf(store_.flows.from_track[i]);
    const uint32_t to_lane = host_.LaneOf(store_.flows.to_track[i]);
    const int64_t from_ns = store_.flows.from_ns[i];
    const int64_t to_ns = store_.flows.to_ns[i];
    if (from_lane == kNoIndex || to_lane == kNoIndex || from_ns < window_.begin_ns ||
        to_ns >= window_.host_end_ns || from_lane == to_lane) {
      continue;
    }
    const uint32_t source = host_.SegmentAt(from_lane, from_ns);
    const uint32_t target = host_.SegmentAt(to_lane, to_ns);
    if (target == 0) continue;
    const bool is_over = host_.lanes()[from_lane].segments[source].end_ns <= to_ns;
    out_.After(SegmentPoint(from_lane, is_over ? source + 1 : source),
               SegmentPoint(to_lane, target), is_queue ? EdgeKind::kQueue : EdgeKind::kBackward,
               SegmentNode(to_lane, target), is_queue ? GraphBuilder::kUsual : 0);
    if (is_queue && IsGap(to_lane, target - 1)) {
      own_ns_[to_lane][target - 1] = 0;
      is_wait_[to_lane][target - 1] = true;
    }
  }
}

// A long stretch of the main thread in which another thread runs operators to its very end: it
// waits for that thread, as a backward pass does.
void RankGraph::LinkJoins() {
  const uint32_t main = host_.main();
  if (main == kNoIndex) return;
  std::vector<uint32_t> workers;
  for (uint32_t l = 0; l < host_.lanes().size(); ++l) {
    const auto& segments = host_.lanes()[l].segments;
    const bool has_operators =
        std::any_of(segments.begin(), segments.end(), [&](const HostSegment& segment) {
          if (segment.owner == kNoSlice) return false;
          const auto owner = static_cast<size_t>(segment.owner);
          return rank_.slice_kinds()[store_.slices.category[owner]] == SliceKind::kHostOp;
        });
    if (l != main && has_operators) workers.push_back(l);
  }
  const std::vector<HostSegment>& own = host_.lanes()[main].segments;
  for (uint32_t i = 0; i < own.size(); ++i) {
    const HostSegment& segment = own[i];
    const int64_t length_ns = segment.end_ns - segment.begin_ns;
    if (is_wait_[main][i] || length_ns < kLongNs) continue;
    for (const uint32_t worker : workers) {
      const std::vector<HostSegment>& theirs = host_.lanes()[worker].segments;
      int64_t busy_ns = 0;
      int64_t first_ns = segment.end_ns;
      uint32_t last = kNoIndex;
      for (uint32_t k = host_.SegmentAt(worker, segment.begin_ns);
           k < theirs.size() && theirs[k].begin_ns < segment.end_ns; ++k) {
        if (theirs[k].owner == kNoSlice) continue;
        const int64_t from_ns = std::max(theirs[k].begin_ns, segment.begin_ns);
        busy_ns += std::min(theirs[k].end_ns, segment.end_ns) - from_ns;
        first_ns = std::min(first_ns, from_ns);
        if (theirs[k].end_ns <= segment.end_ns + kHostClockNs) last = k;
      }
      if (last == kNoIndex || 2 * busy_ns < length_ns) continue;
      if (theirs[last].end_ns < segment.end_ns - std::max(kLongNs, length_ns / 20)) continue;
      out_.After(SegmentPoint(worker, last + 1), SegmentPoint(main, i + 1), EdgeKind::kJoin,
                 SegmentNode(main, i), GraphBuilder::kUsual, kHostClockNs);
      own_ns_[main][i] = std::min(own_ns_[main][i], first_ns - segment.begin_ns);
      is_wait_[main][i] = true;
      break;
    }
  }
}

// A thread that had nothing to do got it from the main thread.
void RankGraph::LinkWorkers() {
  const uint32_t main = host_.main();
  for (uint32_t l = 0; l < host_.lanes().size(); ++l) {
    if (l == main) continue;
    const std::vector<HostSegment>& segments = host_.lanes()[l].segments;
    for (uint32_t i = 0; i + 1 < segments.size(); ++i) {
      if (!IsGap(l, i) || is_wait_[l][i]) continue;
      if (segments[i].end_ns - segments[i].begin_ns < kWorkerGapNs) continue;
      const uint32_t giver = host_.SegmentAt(main, segments[i].end_ns);
      out_.After(SegmentPoint(main, giver), SegmentPoint(l, i + 1), EdgeKind::kWake,
                 SegmentNode(l, i + 1), 0);
      own_ns_[l][i] = 0;
      is_wait_[l][i] = true;
    }
  }
}

// Where the host is always as far ahead of the device, it is held back: what it does between its
// operators takes no time of its own.
void RankGraph::FindPacedGaps() {
  constexpr size_t kEnough = 20;
  std::vector<int64_t> leads_ns;
  for (uint32_t t = 0; t < tasks_.size(); ++t) {
    if (tasks_[t].host_ns == store::kNone || is_launch_bound_[t]) continue;
    leads_ns.push_back(SubtractSaturating(tasks_[t].begin_ns, tasks_[t].host_ns));
  }
  if (leads_ns.size() < kEnough) return;
  const int64_t usual_ns = MiddleNs(leads_ns);
  const int64_t spread_ns = SubtractSaturating(MiddleNs(leads_ns, 0.75), MiddleNs(leads_ns, 0.25));
  if (usual_ns < kQueuedNs || spread_ns > usual_ns / 5) return;
  TextMemo is_range(store_,
                    [](std::string_view name) { return name.starts_with("ProfilerStep#"); });
  for (uint32_t t = 0; t < tasks_.size(); ++t) {
    if (tasks_[t].host_ns == store::kNone || is_launch_bound_[t]) continue;
    const uint32_t lane = host_.LaneOf(tasks_[t].host_track);
    if (lane == kNoIndex || tasks_[t].host_ns < window_.begin_ns) continue;
    const std::vector<HostSegment>& segments = host_.lanes()[lane].segments;
    const uint32_t at = host_.SegmentAt(lane, tasks_[t].host_ns);
    for (uint32_t i = at; i > 0 && at - i < 4; --i) {
      const store::SliceId owner = segments[i - 1].owner;
      const bool is_between =
          owner == kNoSlice || is_range(store_.slices.name[static_cast<size_t>(owner)]);
      if (!is_between) continue;
      if (!is_wait_[lane][i - 1]) is_paced_[lane][i - 1] = true;
      break;
    }
  }
}

void RankGraph::AddHostWork() {
  for (uint32_t l = 0; l < host_.lanes().size(); ++l) {
    const std::vector<HostSegment>& segments = host_.lanes()[l].segments;
    for (uint32_t i = 0; i < segments.size(); ++i) {
      const uint32_t point = SegmentPoint(l, i);
      const uint32_t node = SegmentNode(l, i);
      if (is_paced_[l][i]) {
        const int64_t length_ns = segments[i].end_ns - segments[i].begin_ns;
        out_.Fixed(point, point + 1, EdgeKind::kWork, node, std::min(length_ns, kHostClockNs));
      } else {
        out_.After(point, point + 1, EdgeKind::kWork, node, own_ns_[l][i]);
      }
    }
  }
}

}  // namespace steplens::analysis
